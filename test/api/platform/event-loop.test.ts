import { setImmediate as turn } from 'node:timers/promises';
import { nextTurn } from '../../../api/platform/event-loop.js';

it('lets one piece of one caller run in a turn, in the order in which they asked', async () => {
  const pieces: string[] = [];
  const work = async (name: string) => {
    for (let i = 0; i < 3; i += 1) {
      await nextTurn();
      pieces.push(name);
    }
  };
  const all = Promise.all(['a', 'b', 'c'].map(work));
  let seen = 0;
  while (pieces.length < 9) {
    await turn();
    expect(pieces.length - seen).toBeLessThanOrEqual(1);
    seen = pieces.length;
  }
  await all;
  expect(pieces).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
});

it('serves again after a pause', async () => {
  await nextTurn();
  await turn();
  await turn();
  await nextTurn();
});
