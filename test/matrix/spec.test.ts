import { CASES } from './cases.js';
import { routeOf, scopeOf, SEVEN } from './expected.js';
import { endpointOf, gaps, nameOf, Walk } from './run.js';
import { buildWorld, type World } from './world.js';
import { ENDPOINTS } from '../../api/http/router.js';

// T-MATRIX: every route, by everyone, about every kind of id; tokens as the contract has them (PAT_SCOPE_ENFORCEMENT=spec).

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.app.close());

it('has a row for every route and a route for every row', () => {
  expect(gaps()).toEqual({ unlisted: [], gone: [] });
});

it('has one row of a name', () => {
  const names = CASES.map(nameOf);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

it('the seven pairs of the contract are enforced, with the contract’s scopes, and no others', () => {
  const enforced = ENDPOINTS.filter((endpoint) => !endpoint.raw && endpoint.scopeEnforced);
  expect(Object.fromEntries(enforced.map((endpoint) => [routeOf(endpoint), scopeOf(endpoint)]))).toEqual(SEVEN);
});

it('a route that reads names a scope to read, one that writes a scope to write', () => {
  const odd = ENDPOINTS.filter((endpoint) => {
    const right = scopeOf(endpoint)?.split(':')[1];
    return right && right !== '*' && (right === 'read') !== (endpoint.method === 'get');
  });
  expect(odd.map(routeOf)).toEqual([]);
});

it.each(CASES.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
  const endpoint = endpointOf(row);
  if (!endpoint) throw new Error('no such route');
  const walk = new Walk(world, row, endpoint, 'spec');
  for (const kind of row.kinds) for (const actor of world.actors) await walk.step(actor, kind);
  expect(walk.faults).toEqual([]);
  expect(walk.calls).toBe(row.kinds.length * world.actors.length);
});
