import { testGroup } from './run.js';

testGroup('accounts');
