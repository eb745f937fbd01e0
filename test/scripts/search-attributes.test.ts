import { readFileSync } from 'node:fs';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';

test('the embedded Temporal registers exactly the attributes that the workflows set, in their order', () => {
  const registered = JSON.parse(readFileSync('scripts/embedded/search-attributes.json', 'utf8')) as {
    name: string;
    type: string;
  }[];
  const used = Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => ({ name, type: type.toLowerCase() }));
  expect(registered.map(({ name, type }) => ({ name, type: type.toLowerCase() }))).toEqual(used);
});
