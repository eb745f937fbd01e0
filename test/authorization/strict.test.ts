import { CASES } from './cases.js';
import { endpointOf, nameOf, Walk } from './run.js';
import { buildWorld, type World } from './world.js';

// PAT_SCOPE_ENFORCEMENT=strict: every route refuses a token without its scope. Everyone else is as in spec.test.ts.

let world: World;
beforeAll(async () => {
  world = await buildWorld({ PAT_SCOPE_ENFORCEMENT: 'strict' });
});
afterAll(() => world.app.close());
// Each row builds its own subjects; those of all rows together would exceed what a team may hold.
afterEach(() =>
  world.app.services.db('automations').whereNull('deleted_at').update({ deleted_at: new Date(), is_active: false }),
);

it.each(CASES.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
  const endpoint = endpointOf(row);
  if (!endpoint) throw new Error('no such route');
  const walk = new Walk(world, row, endpoint, 'strict');
  const callers = world.actors.filter((actor) => actor.scope !== null || actor.name === 'member');
  for (const kind of row.kinds) for (const actor of callers) await walk.step(actor, kind);
  expect(walk.faults).toEqual([]);
});
