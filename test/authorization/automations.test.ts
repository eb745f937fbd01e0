import { testGroup } from './run.js';

testGroup('automations');
