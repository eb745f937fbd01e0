import { ConnectionQueue, type Holder } from '../../db/connection-queue.js';

const LONG = 60_000;
const createQueue = (size: number, acquireTimeoutMs = LONG) =>
  new ConnectionQueue(size, acquireTimeoutMs, () => new Error('too late'));
const person = (name: string, ...teams: string[]): Holder => ({ person: name, teams, fairnessKey: teams[0] ?? name });

/** Requests that enter, and the names of those that were let in, in their order. */
function line(queue: ConnectionQueue) {
  const admitted: string[] = [];
  return {
    admitted,
    enter: (name: string, holder: Holder | undefined): void => {
      const fairnessKey = queue.enter(holder);
      // Who still waits when the test ends is refused long after it.
      if (fairnessKey)
        void fairnessKey.then(
          () => admitted.push(name),
          () => undefined,
        );
      else admitted.push(name);
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, work: (nth: number) => void) => Array.from({ length: count }, (_, nth) => work(nth));

it('lets a request in at once while nobody has used up anything', () => {
  const queue = createQueue(8);
  expect(queue.enter(person('a', 'x'))).toBeUndefined();
  expect(queue.enter(undefined)).toBeUndefined();
  expect(queue.use()).toEqual({ size: 8, used: 2, waiting: 0 });
});

it('one person holds at most 3 of 8, whatever waits', async () => {
  const queue = createQueue(8);
  const { admitted, enter } = line(queue);
  times(32, (nth) => enter(`a${nth}`, person('a')));
  await settled();
  expect(admitted).toEqual(['a0', 'a1', 'a2']);
  enter('b0', person('b'));
  expect(admitted).toContain('b0');
  queue.leave(person('a'));
  await settled();
  expect(admitted).toEqual(['a0', 'a1', 'a2', 'b0', 'a3']);
  expect(queue.use()).toEqual({ size: 8, used: 4, waiting: 28 });
});

it('a team holds at most 5 of 8, however many its members are', async () => {
  const queue = createQueue(8);
  const { admitted, enter } = line(queue);
  times(20, (nth) => enter(`member ${nth}`, person(`m${nth}`, 'team')));
  await settled();
  expect(admitted).toHaveLength(5);
  enter('one more', person('one more', 'team'));
  enter('of another', person('o', 'other'));
  await settled();
  expect(admitted.slice(5)).toEqual(['of another']);
});

it('membership in a busy team keeps nobody waiting who has another team', async () => {
  const queue = createQueue(8);
  const { admitted, enter } = line(queue);
  times(20, (nth) => enter(`member ${nth}`, person(`m${nth}`, 'busy')));
  enter('also elsewhere', person('victim', 'busy', 'calm'));
  await settled();
  expect(admitted.slice(5)).toEqual(['also elsewhere']);
});

it('the last connection is kept for what belongs to nobody alone, and that goes first', async () => {
  const queue = createQueue(8);
  const { admitted, enter } = line(queue);
  times(8, (nth) => enter(`p${nth}`, person(`p${nth}`)));
  enter('shared 0', undefined);
  enter('shared 1', undefined);
  await settled();
  expect(admitted).toEqual([...Array.from({ length: 7 }, (_, nth) => `p${nth}`), 'shared 0']);
  queue.leave(person('p0'));
  queue.leave(undefined);
  await settled();
  expect(admitted.slice(8)).toEqual(['shared 1', 'p7']);
});

it('teams take turns, persons of a team take turns, and a person’s requests keep their order', async () => {
  const queue = createQueue(4);
  const holders = ['h1', 'h2', 'h3'].map((name) => person(name));
  for (const holder of holders) expect(queue.enter(holder)).toBeUndefined();
  const { admitted, enter } = line(queue);
  times(3, (nth) => enter(`a${nth}`, person('a', 'loud')));
  times(2, (nth) => enter(`b${nth}`, person('b', 'loud')));
  enter('c0', person('c', 'calm'));
  enter('d0', person('d'));
  const order: [string, Holder][] = [
    ['a0', person('a', 'loud')],
    ['c0', person('c', 'calm')],
    ['d0', person('d')],
    ['b0', person('b', 'loud')],
    ['a1', person('a', 'loud')],
    ['b1', person('b', 'loud')],
    ['a2', person('a', 'loud')],
  ];
  queue.leave(holders[0]);
  for (const [nth, [name, holder]] of order.entries()) {
    await settled();
    expect(admitted).toEqual(order.slice(0, nth + 1).map(([each]) => each));
    expect(admitted.at(-1)).toBe(name);
    queue.leave(holder);
  }
  expect(queue.use()).toEqual({ size: 4, used: 2, waiting: 0 });
});

it('a newcomer does not pass those who wait for the same, and does pass those who have used up their share', async () => {
  const queue = createQueue(8);
  const { admitted, enter } = line(queue);
  times(4, (nth) => enter(`a${nth}`, person('a', 'x')));
  enter('b0', person('b', 'x'));
  expect(admitted).toEqual(['a0', 'a1', 'a2', 'b0']);
});

it('rejects a request that waits too long, and removes it from the queue', async () => {
  const queue = createQueue(2, 20);
  const holder = person('a');
  expect(queue.enter(holder)).toBeUndefined();
  await expect(queue.enter(holder)).rejects.toThrow('too late');
  expect(queue.use()).toEqual({ size: 2, used: 1, waiting: 0 });
  queue.leave(holder);
  expect(queue.use()).toEqual({ size: 2, used: 0, waiting: 0 });
  expect(queue.enter(holder)).toBeUndefined();
});

it.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [8, 3],
  [20, 8],
])('in a pool of %i a person may hold %i, and always one', (size, share) => {
  const queue = createQueue(size);
  const { admitted, enter } = line(queue);
  times(size, (nth) => enter(String(nth), person('a')));
  expect(admitted).toHaveLength(share);
});
