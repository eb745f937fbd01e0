import { testGroup } from './run.js';

testGroup('tasks');
