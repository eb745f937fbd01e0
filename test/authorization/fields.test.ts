import { testGroup } from './run.js';

testGroup('fields');
