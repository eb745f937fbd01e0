import { testGroup } from './run.js';

testGroup('approvals');
