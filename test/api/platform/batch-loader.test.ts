import { createBatchLoader } from '../../../api/platform/database/batching/batch-loader.js';
import { startApp, type TestApp } from '../../support/app.js';

const soon = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('the batch loader', () => {
  it('asks at once for a key that comes alone, and together for those that come meanwhile', async () => {
    const batches: number[][] = [];
    const double = createBatchLoader(async (keys: number[]) => {
      batches.push(keys);
      await soon();
      return keys.map((key) => key * 2);
    });
    expect(await Promise.all([1, 2, 3, 2].map(double))).toEqual([2, 4, 6, 4]);
    expect(batches).toEqual([[1], [2, 3, 2]]);
    expect(await double(5)).toBe(10);
  });

  it('throws to each key of a failed look-up and goes on with the next', async () => {
    let calls = 0;
    const ask = createBatchLoader(async (keys: number[]) => {
      await soon();
      calls += 1;
      if (calls === 2) throw new Error('away');
      return keys;
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map(ask));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await ask(4)).toBe(4);
  });
});

describe('a rate limit under concurrent calls', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ RATE_LIMIT_FORGE_WEBHOOK: '5' });
  });
  afterAll(() => app.close());

  it('lets exactly as many through as one after the other', async () => {
    const call = () => app.as().post('/api/forge/webhooks', {});
    const answers = await Promise.all(Array.from({ length: 20 }, call));
    const passed = answers.filter(({ status }) => status === 401);
    expect(passed).toHaveLength(5);
    const left = passed.map(({ headers }) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    expect(new Set(left)).toEqual(new Set(['0', '1', '2', '3', '4']));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
    expect((await call()).status).toBe(429);
  });
});
