import { judgeFailures, judgeMemory, judgeQueues, judgeTables, judgeTitles, slopeOf } from '../../scripts/soak/judge.js';
import type { Sample } from '../../scripts/soak/sample.js';
import type { Piece } from '../../scripts/soak/state.js';

const sample = (minute: number, megabytes: number, pid = 1): Sample => ({
  minute,
  memory: { api: { pid, bytes: megabytes * 1e6 } },
  tables: [],
  queues: [],
});
/** A piece with a sample a minute. */
const piece = (minutes: number, megabytes: (minute: number) => number, pid: (minute: number) => number = () => 1): Piece => ({
  began: '2026-11-26T00:00:00Z',
  minutes,
  kills: [],
  samples: Array.from({ length: minutes }, (_, minute) => sample(minute, megabytes(minute), pid(minute))),
  sent: 0,
  failed: {},
  verdicts: [],
});

describe('memory', () => {
  it('may fill caches in the first hour and vary by less than a tenth later', () => {
    const { violations, skipped } = judgeMemory(piece(240, (minute) => (minute < 60 ? 100 + minute : 160 + (minute % 7))));
    expect([violations, skipped]).toEqual([[], null]);
  });

  it('that grows by a fifth in three hours is found', () => {
    const { violations } = judgeMemory(piece(240, (minute) => 150 + minute * 0.2));
    expect(violations).toEqual([expect.stringContaining('api: 16')]);
  });

  it('that grows is found although kills hide it from the windows', () => {
    // Each life begins small: the longest of them shows the growth.
    const { violations } = judgeMemory(
      piece(
        300,
        (minute) => 100 + (minute % 150) * 0.6,
        (minute) => 1 + Math.floor(minute / 150),
      ),
    );
    expect(violations).toEqual(expect.arrayContaining([expect.stringContaining('% an hour without a restart')]));
  });

  it('of a piece of less than two hours is not judged', () => {
    expect(judgeMemory(piece(119, (minute) => minute * 100)).skipped).toContain('not two hours');
  });

  it('has a slope an hour', () => {
    expect(slopeOf([0, 1, 2, 3].map((minute) => ({ minute, bytes: minute * 1e6 })))).toBeCloseTo(60e6);
    expect(slopeOf([{ minute: 0, bytes: 1 }])).toBeNaN();
  });
});

describe('tables and queues', () => {
  const withTable = (minute: number, name: string, bytes: number, rows: number): Sample => ({
    ...sample(minute, 1),
    tables: [{ name, bytes, indexBytes: 0, rows }],
  });

  it('a table that doubles its bytes a row is found, one that has twice the rows is not', () => {
    expect(judgeTables([withTable(0, 'tasks', 1e6, 10_000), withTable(9, 'tasks', 2e6, 20_000)]).violations).toEqual([]);
    expect(judgeTables([withTable(0, 'tasks', 1e6, 10_000), withTable(9, 'tasks', 2.1e6, 10_000)]).violations).toHaveLength(1);
  });

  it('a queue of more than 64 MB is found', () => {
    expect(judgeTables([withTable(0, 'outbox', 63e6, 1)]).violations).toEqual([]);
    expect(judgeTables([withTable(0, 'outbox', 70e6, 1)]).violations).toEqual([expect.stringContaining('outbox: 70 MB')]);
  });

  it('a row that waits two minutes is found, unless something was killed before', () => {
    const waiting = [{ ...sample(10, 1), queues: [{ name: 'outbox', count: 1, age: 121 }] }];
    expect(judgeQueues({ samples: waiting, kills: [] }).violations).toHaveLength(1);
    expect(judgeQueues({ samples: waiting, kills: [{ minute: 8, part: 'worker' }] }).violations).toEqual([]);
    expect(judgeQueues({ samples: waiting, kills: [{ minute: 2, part: 'worker' }] }).violations).toHaveLength(1);
  });
});

it('an acknowledged task that is missing, and one that is there twice, are found', () => {
  const [lost, doubled] = judgeTitles(['a', 'b'], new Map([['a', 2]]));
  expect(lost?.violations).toEqual(['b']);
  expect(doubled?.violations).toEqual(['a: 2 tasks']);
  expect(judgeTitles(['a'], new Map([['a', 1]])).flatMap(({ violations }) => violations)).toEqual([]);
});

describe('requests of the even load', () => {
  const load = (failed: Record<string, number>, kills = 0) =>
    judgeFailures({
      sent: 6_000,
      failed,
      kills: Array.from({ length: kills }, () => ({ minute: 1, part: 'api' })),
      minutes: 10,
    }).violations;

  it('fail after a kill for as long as a restart takes, and not without one', () => {
    expect(load({})).toEqual([]);
    expect(load({ ECONNREFUSED: 600 }, 1)).toEqual([]);
    expect(load({ ECONNREFUSED: 500, 503: 101 }, 1)).toEqual([expect.stringContaining('601 of 6000 requests failed, 600 may')]);
    expect(load({ 500: 1 })).toEqual([expect.stringContaining('1 of 6000 requests failed, 0 may')]);
  });

  it('are never refused, whatever was killed', () => {
    expect(load({ 401: 3 }, 5)).toEqual(['3 requests got 401']);
  });
});
