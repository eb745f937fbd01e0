import { computeDigest as digestOfOthers } from '../mcp/digest.js';
import { computeDigest, traceSince } from './digest.js';
import { ENTRY_CASES } from './entry-cases.js';
import { MODEL_CASES } from './model-cases.js';
import { closeWorld, obey, openWorld, plant, say, world } from './world.js';

// A model that obeys everything it reads, a provider that lies, and everybody who could use either: nothing but a plan comes of it.

beforeAll(openWorld);
afterAll(closeWorld);
beforeEach(() => {
  world.model.requests.length = 0;
  world.leak.received.length = 0;
});

describe('changes nothing but its own session, whatever the model reads and says', () => {
  it.each(MODEL_CASES)('$name', async ({ texts = () => ({}), answer = obey, check }) => {
    await plant(texts());
    const before = await computeDigest(world.app);
    const since = new Date();
    world.model.answer(answer);
    const answered = await say();
    check(answered);
    expect(await computeDigest(world.app)).toEqual(before);
    const { audited, enqueued } = await traceSince(world.app, since);
    expect(audited.filter((entry) => entry !== 'ai_agent stage')).toEqual([]);
    expect(enqueued.filter((kind) => kind !== 'plan.start')).toEqual([]);
    if (answered.plan) {
      const { action_id } = answered.plan;
      expect(await world.app.services.db('agent_plans').where({ action_id }).first()).toMatchObject({ status: 'staged' });
    }
  });

  it('the tokens of all cases stay below what they could have used', async () => {
    const used = await world.app.services.db('agent_turns').max<{ tokens: number }[]>('output_tokens as tokens');
    expect(used[0]?.tokens).toBeLessThanOrEqual(60_000);
  });
});

describe('changes no other table, for any caller', () => {
  const TURN = ['agent_turns', 'agent_steps', 'agent_usage'];

  it.each(ENTRY_CASES)('$name', async ({ prepare, attack, also = [] }) => {
    await plant({});
    const prepared = (await prepare?.()) as never;
    const before = await digestOfOthers(world.app, [...TURN, ...also]);
    await attack(prepared);
    expect(await digestOfOthers(world.app, [...TURN, ...also])).toEqual(before);
  });
});
