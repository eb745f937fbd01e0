import { testGroup } from './run.js';

testGroup('cycles');
