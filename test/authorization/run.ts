import { ENDPOINTS } from '../../api/http/router.js';
import type { Endpoint } from '../../api/endpoint/endpoint.js';
import type { Answer } from '../support/app.js';
import { CASES, type Kind, type Row } from './cases.js';
import { type Expectation, expectedOf, isEnforced, type Mode, routeOf, scopeOf } from './expected.js';
import { type Subject, SUBJECTS } from './subjects.js';
import { type Actor, unknownId, type World } from './world.js';

export const endpointOf = (row: Row): Endpoint | undefined => ENDPOINTS.find((endpoint) => routeOf(endpoint) === row.route);
export const nameOf = (row: Row): string => (row.by ? `${row.route} by ${row.by}` : row.route);

/** Callers of this row. */
export const callersOf = (world: World, row: Row): Actor[] =>
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
    if (value === undefined) throw new Error(`${nameOf(row)} does not say what :${name} is`);
    return encodeURIComponent(value);
  });
  const address = query ? `${path}?${new URLSearchParams(query).toString()}` : path;
  const inPerson = !actor.refused && actor.scope === null && !actor.impersonated;
  const client = world.app.as((inPerson && subject.credential) || actor.credential(scopeOf(endpoint)));
  return client[endpoint.method](address, body, { ...(headers ? { headers } : {}), ...(raw === undefined ? {} : { raw }) });
}

/** Any difference between two errors of the same kind would leak information. */
const words = ({ body }: Answer): string => JSON.stringify([body.error_code, body.message, body.detail]);

function headerFaults(endpoint: Endpoint, actor: Actor, mode: Mode, { headers }: Answer): string[] {
  const scope = scopeOf(endpoint);
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
  if (expected.scopeMissing && answer.body.message !== `Token is missing the required scope: ${scopeOf(endpoint)}`) {
    faults.push(`says "${answer.body.message}"`);
  }
  return faults;
}

/** Goes through every caller and kind of one row; returns what is not as the rules want it, a line each. */
export class Walk {
  private readonly shared = new Map<string, Subject>();
  private readonly refusals = new Map<number, string>();
  private readonly found = new Map<string, string[]>();
  private dirty = true;
  calls = 0;

  constructor(
    private readonly world: World,
    private readonly row: Row,
    private readonly endpoint: Endpoint,
    private readonly mode: Mode,
  ) {}

  /** A call that succeeds changes its subject, so it gets one of its own; refusals and reads share. */
  private async subjectFor(actor: Actor, kind: Kind, expected: Expectation): Promise<Subject> {
    const key = this.row.author === 'caller' ? `${kind} ${actor.user_id}` : kind;
    const changes = this.endpoint.method !== 'get' && expected.status < 300 && (!this.row.public || this.row.once);
    const kept = changes ? undefined : this.shared.get(key);
    if (kept) return kept;
    this.dirty = true;
    const subject = await buildSubject(this.world, this.row, actor, kind);
    if (!changes) this.shared.set(key, subject);
    return subject;
  }

  async step(actor: Actor, kind: Kind): Promise<void> {
    const { world, row, endpoint, mode } = this;
    const expected = expectedOf(endpoint, row, actor, kind, mode);
    const subject = await this.subjectFor(actor, kind, expected);
    // What the subject's own making wrote is none of this call's doing.
    if (this.dirty) await world.writes();
    const answer = await send(world, endpoint, row, actor, subject);
    this.calls += 1;
    const faults = headerFaults(endpoint, actor, mode, answer);
    if (answer.status === expected.status) faults.push(...bodyFaults(expected, endpoint, subject, answer));
    else faults.push(`${answer.status} where ${expected.status} belongs: ${answer.body?.message ?? ''}`);
    const mustNotWrite = endpoint.method === 'get' || (answer.status >= 400 && !row.leaves);
    const written = mustNotWrite ? await world.writes() : [];
    this.dirty = !mustNotWrite;
    if (written.length > 0) faults.push(`${answer.status} and yet wrote to ${written.join(', ')}`);
    if (answer.status === 401 || answer.status === 404) faults.push(...this.hints(answer));
    for (const fault of faults) {
      const key = `${kind}: ${fault}`;
      this.found.set(key, [...(this.found.get(key) ?? []), actor.name]);
    }
  }

  /** A line for each fault, with everyone it happened to. */
  get faults(): string[] {
    return [...this.found].map(([fault, actors]) => `${fault} (${actors.join(', ')})`);
  }

  /** All 401 of a route read the same, and so do all its 404. */
  private hints(answer: Answer): string[] {
    const first = this.refusals.get(answer.status) ?? words(answer);
    this.refusals.set(answer.status, first);
    return first === words(answer) ? [] : [`a ${answer.status} unlike the others: ${words(answer)} after ${first}`];
  }
}

const unique = (names: string[]) => [...new Set(names)];

/** Routes without a row, and rows without a route. */
export function gaps(): { unlisted: string[]; gone: string[] } {
  const routes = ENDPOINTS.map(routeOf);
  const listed = unique(CASES.map((row) => row.route));
  return { unlisted: routes.filter((route) => !listed.includes(route)), gone: listed.filter((route) => !routes.includes(route)) };
}
