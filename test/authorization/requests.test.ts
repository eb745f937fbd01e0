import { testGroup } from './run.js';

testGroup('requests');
