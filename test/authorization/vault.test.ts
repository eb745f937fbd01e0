import { testGroup } from './run.js';

testGroup('vault');
