import { ENDPOINTS } from '../../api/http/router.js';
import type { Endpoint } from '../../api/platform/endpoint/endpoint.js';
import type { Answer } from '../support/app.js';
import { CASES, GROUPS } from './cases.js';
import type { Kind, Row } from './row.js';
import { type Expectation, getExpected, isEnforced, type Mode, getRoute, getConditionScope } from './expected.js';
import { type Subject, SUBJECTS } from './subjects.js';
import { type Actor, buildWorld, unknownId, type World } from './world.js';

export const findEndpoint = (row: Row): Endpoint | undefined => ENDPOINTS.find((endpoint) => getRoute(endpoint) === row.route);
export const getName = (row: Row): string => (row.by ? `${row.route} by ${row.by}` : row.route);

/** Callers of this row. */
const findCallers = (world: World, row: Row): Actor[] =>
  world.actors.filter((actor) => !(row.sparesImpersonator && actor.impersonated));

/** The subject in the relation to the own team that `kind` names. */
export async function buildSubject(world: World, row: Row, actor: Actor, kind: Kind): Promise<Subject> {
  const build = SUBJECTS[row.subject];
  const authorIn = (tenant: World['own']) =>
    row.author === 'colleague' ? tenant.colleague.user_id : (row.author && actor.user_id) || tenant.member.user_id;
  const of = (tenant: World['own'], trashed = false) => build(world, { tenant, trashed, author: authorIn(tenant) });
  const names = row.names ?? 'id';
  if (kind === 'own') return of(world.own);
  if (kind === 'trashed') return of(world.own, true);
  if (kind === 'foreign') {
    const foreign = await of(world.foreign);
    return row.reference ? { ...(await of(world.own)), [names]: foreign[names] } : foreign;
  }
  const own = await of(world.own);
  const others = { unknown: unknownId(), garbage: "x' or 1=1 --", respelt: `{${own[names].toUpperCase()}}` };
  return { ...own, [names]: others[kind] };
}

/** Sends what the row says about this subject. */
export async function send(world: World, endpoint: Endpoint, row: Row, actor: Actor, subject: Subject): Promise<Answer> {
  const { params = {}, query, body, raw, headers } = row.send(subject);
  const path = endpoint.path.replace(/:(\w+)/g, (_all, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${getName(row)} does not say what :${name} is`);
    return encodeURIComponent(value);
  });
  const address = query ? `${path}?${new URLSearchParams(query).toString()}` : path;
  const inPerson = !actor.refused && actor.scope === null && !actor.impersonated;
  const client = world.app.as((inPerson && subject.credential) || actor.credential(getConditionScope(endpoint)));
  return client[endpoint.method](address, body, { ...(headers ? { headers } : {}), ...(raw === undefined ? {} : { raw }) });
}

/** Any difference between two errors of the same kind would leak information. */
const words = ({ body }: Answer): string => JSON.stringify([body.error_code, body.message, body.detail]);

function headerFaults(endpoint: Endpoint, actor: Actor, mode: Mode, { headers }: Answer): string[] {
  const scope = getConditionScope(endpoint);
  const wanted = scope ? [scope, String(isEnforced(endpoint, actor, mode))] : [null, null];
  const got = [headers.get('x-required-scope'), headers.get('x-scope-enforced')];
  return String(got) === String(wanted) ? [] : [`scope headers ${got.join(' ')} where ${wanted.join(' ')} belong`];
}

function bodyFaults(expected: Expectation, endpoint: Endpoint, subject: Subject, answer: Answer): string[] {
  const text = JSON.stringify(answer.body ?? null);
  const faults: string[] = [];
  if (answer.status >= 400 && text.includes(subject.canary)) faults.push('the refusal shows what it refuses');
  if (expected.shows !== undefined) {
    const shown = text.includes(subject.canary);
    if (shown !== expected.shows) faults.push(shown ? 'lists what it must not' : 'does not list it');
  }
  if (expected.scopeMissing && answer.body.message !== `Token is missing the required scope: ${getConditionScope(endpoint)}`) {
    faults.push(`says "${answer.body.message}"`);
  }
  return faults;
}

/** One call: who sends it, and what must come back. */
interface Step {
  actor: Actor;
  expected: Expectation;
}

/** Goes through every caller and kind of one row; `faults` says what is not as the rules want it, a line each. */
export class Walk {
  private readonly refusals = new Map<number, string>();
  private readonly found = new Map<string, string[]>();
  calls = 0;

  constructor(
    private readonly world: World,
    private readonly row: Row,
    private readonly endpoint: Endpoint,
    private readonly mode: Mode,
  ) {}

  async go(actors: Actor[], kinds = this.row.kinds): Promise<void> {
    for (const kind of kinds) {
      const steps = actors.map((actor) => ({ actor, expected: getExpected(this.endpoint, this.row, actor, kind, this.mode) }));
      await this.together(
        kind,
        steps.filter((step) => !this.changes(step)),
      );
      for (const step of steps.filter((each) => this.changes(each))) await this.alone(kind, step);
    }
  }

  /** Whether the call is to succeed and to change its subject, so that it needs one of its own. */
  private changes({ expected }: Step): boolean {
    return this.endpoint.method !== 'get' && expected.status < 300 && (!this.row.public || this.row.once === true);
  }

  /** Refusals and reads share their subject and go out at once: none of them may write, so the database is asked once for all. */
  private async together(kind: Kind, steps: Step[]): Promise<void> {
    const { world, row, endpoint } = this;
    const shared = new Map<string, Subject>();
    for (const { actor } of steps) {
      const owner = this.getOwner(actor);
      if (!shared.has(owner)) shared.set(owner, await buildSubject(world, row, actor, kind));
    }
    // What the building of the subjects wrote is none of these calls' doing.
    await world.writes();
    const answers = await Promise.all(
      steps.map(async (step) => {
        const subject = shared.get(this.getOwner(step.actor)) as Subject;
        const answer = await send(world, endpoint, row, step.actor, subject);
        this.judge(kind, step, subject, answer);
        return answer;
      }),
    );
    const mustNotWrite = !row.leaves && (endpoint.method === 'get' || answers.every(({ status }) => status >= 400));
    const written = mustNotWrite ? await world.writes() : [];
    for (const { actor } of written.length > 0 ? steps : []) {
      this.note(kind, actor, `one of these calls was refused or read, and yet wrote to ${written.join(', ')}`);
    }
  }

  private async alone(kind: Kind, step: Step): Promise<void> {
    const subject = await buildSubject(this.world, this.row, step.actor, kind);
    this.judge(kind, step, subject, await send(this.world, this.endpoint, this.row, step.actor, subject));
  }

  /** Whose subject a caller gets: the row may ask for the caller's own. */
  private readonly getOwner = ({ user_id }: Actor): string => (this.row.author === 'caller' ? String(user_id) : '');

  private judge(kind: Kind, { actor, expected }: Step, subject: Subject, answer: Answer): void {
    this.calls += 1;
    const faults = headerFaults(this.endpoint, actor, this.mode, answer);
    if (answer.status === expected.status) faults.push(...bodyFaults(expected, this.endpoint, subject, answer));
    else faults.push(`${answer.status} where ${expected.status} belongs: ${answer.body?.message ?? ''}`);
    if (answer.status === 401 || answer.status === 404) faults.push(...this.hints(answer));
    for (const fault of faults) this.note(kind, actor, fault);
  }

  private note(kind: Kind, actor: Actor, fault: string): void {
    const key = `${kind}: ${fault}`;
    this.found.set(key, [...(this.found.get(key) ?? []), actor.name]);
  }

  /** A line for each fault, with everyone it happened to. */
  get faults(): string[] {
    return [...this.found].map(([fault, actors]) => `${fault} (${actors.join(', ')})`);
  }

  /** All 401 of a route read the same, and so do all its 404: a difference would tell what exists. */
  private hints(answer: Answer): string[] {
    const first = this.refusals.get(answer.status) ?? words(answer);
    this.refusals.set(answer.status, first);
    return first === words(answer) ? [] : [`a ${answer.status} unlike the others: ${words(answer)} after ${first}`];
  }
}

const unique = (names: string[]) => [...new Set(names)];

/** Routes without a row, and rows without a route. */
export function gaps(): { unlisted: string[]; gone: string[] } {
  const routes = ENDPOINTS.map(getRoute);
  const listed = unique(CASES.map((row) => row.route));
  return { unlisted: routes.filter((route) => !listed.includes(route)), gone: listed.filter((route) => !routes.includes(route)) };
}

/** One test a row: everyone calls it about every kind of id. */
function testRows(
  group: keyof typeof GROUPS,
  mode: Mode,
  settings: Record<string, string>,
  calls: (actor: Actor) => boolean,
): void {
  let world: World;
  beforeAll(async () => {
    world = await buildWorld(settings);
  });
  afterAll(() => world.app.close());
  // Each row builds its own subjects; those of all rows together would exceed what a team may hold.
  afterEach(async () => {
    const { db } = world.app.services;
    await db('automations').whereNull('deleted_at').update({ deleted_at: new Date(), is_active: false });
    await db('webhooks').delete();
    await db('cycles').delete();
    await db('custom_fields').delete();
    await db('saved_views').delete();
    await db('bulk_jobs').delete();
    await db('runner_jobs').delete();
    await db('runners').delete();
    await db('runner_registration_tokens').delete();
    await db('bulk_uploads').delete();
    await db('mcp_upstreams').delete();
  });

  // A row is up to a hundred requests, and what is asked is who may, not how fast a busy machine answers.
  const timeoutMs = 120_000;
  it.each(GROUPS[group].map((row) => [getName(row), row] as const))(
    '%s',
    async (_name, row) => {
      const endpoint = findEndpoint(row);
      if (!endpoint) throw new Error('no such route');
      const walk = new Walk(world, row, endpoint, mode);
      const callers = findCallers(world, row).filter(calls);
      await walk.go(callers);
      expect(walk.faults).toEqual([]);
      expect(walk.calls).toBe(row.kinds.length * callers.length);
    },
    timeoutMs,
  );
}

/**
 * The rows of a group, with scopes as a new installation checks them and with PAT_SCOPE_ENFORCEMENT=strict, which concerns tokens alone:
 * a member shows that sessions stay as they are. A strict token differs from others only without that setting.
 */
export function testGroup(group: keyof typeof GROUPS): void {
  describe('scopes of the few routes', () => testRows(group, 'spec', {}, () => true));
  describe('scopes of every route', () =>
    testRows(
      group,
      'strict',
      { PAT_SCOPE_ENFORCEMENT: 'strict' },
      ({ scope, strict, name }) => (scope !== null && !strict) || name === 'member',
    ));
}
