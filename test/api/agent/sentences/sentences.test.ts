import { readFileSync } from 'node:fs';
import { isSame, meaning } from './world.js';

/** World, what is written (several messages: an array), and what it means. */
type Row = [world: string, said: string | string[], means: string];
const read = (name: string): Row[] => JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as Row[];

it.each([...read('seen'), ...read('unseen')])('%s: %s', (world, said, means) => {
  const found = meaning(world, ...[said].flat());
  expect(isSame(found, means) ? means : found).toBe(means);
});
