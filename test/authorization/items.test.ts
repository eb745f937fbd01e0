import { testGroup } from './run.js';

testGroup('items');
