import { testGroup } from './run.js';

testGroup('graph');
