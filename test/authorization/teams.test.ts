import { testGroup } from './run.js';

testGroup('teams');
