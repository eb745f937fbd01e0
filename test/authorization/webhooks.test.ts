import { testGroup } from './run.js';

testGroup('webhooks');
