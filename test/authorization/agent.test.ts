import { testGroup } from './run.js';

testGroup('agent');
