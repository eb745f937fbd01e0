import { closingIssues } from './closing-keywords.js';

/** Every name that a delivery can be mapped to. Source: contract, section 6, inbound normalized events. */
export const FORGE_EVENTS = [
  'forge.issue_opened',
  'forge.issue_closed',
  'forge.issue_reopened',
  'forge.pr_opened',
  'forge.pr_synchronize',
  'forge.pr_merged',
  'forge.pr_closed',
  'forge.push',
  'forge.release_published',
  'forge.check_suite_failed',
  'forge.workflow_run_failed',
  'security.dependency_alert',
] as const;

export type ForgeEventType = (typeof FORGE_EVENTS)[number];

/** Trigger names that stand for several events. The dependency alert is `security.`, so `forge.*` leaves it out. Source: decision F3. */
export const FORGE_FAMILIES: Readonly<Record<'forge.pull_request' | 'forge.issue' | 'forge.*', readonly ForgeEventType[]>> = {
  'forge.pull_request': ['forge.pr_opened', 'forge.pr_synchronize', 'forge.pr_merged', 'forge.pr_closed'],
  'forge.issue': ['forge.issue_opened', 'forge.issue_closed', 'forge.issue_reopened'],
  'forge.*': FORGE_EVENTS.filter((type) => type.startsWith('forge.')),
};

/** Trigger types that an event arms: its own name, then each family it belongs to. Source: decision F3. */
export function triggersOf(type: string): string[] {
  const families = Object.entries(FORGE_FAMILIES).filter(([, members]) => members.some((member) => member === type));
  return [type, ...families.map(([family]) => family)];
}

type Text = string | null;
/** ISO 8601 in UTC. */
type Timestamp = string | null;

/** Stand on every payload. Source: contract, section 6, payload shapes. */
interface Base {
  repo: Text;
  sender: Text;
  action: Text;
}

interface IssuePayload extends Base {
  issue_number: number | null;
  title: Text;
  url: Text;
  created_at: Timestamp;
  labels: string[];
}

interface PullRequestPayload extends Base {
  pr_number: number | null;
  title: Text;
  url: Text;
  merged: boolean | null;
  created_at: Timestamp;
  merged_at: Timestamp;
  base: Text;
  head: Text;
  head_sha: Text;
  closes_issues: number[];
}

interface PushPayload extends Base {
  ref: Text;
  commit_count: number;
  messages: string[];
}

interface ReleasePayload extends Base {
  tag: Text;
  name: Text;
  url: Text;
}

interface CheckSuitePayload extends Base {
  branch: Text;
  sha: Text;
}

interface WorkflowRunPayload extends Base {
  run_id: number | null;
  branch: Text;
  sha: Text;
  name: Text;
  url: Text;
  pr_number: number | null;
  on_pr: boolean;
}

interface DependencyAlertPayload extends Base {
  ghsa_id: Text;
  cve_id: Text;
  severity: Text;
  package: Text;
  ecosystem: Text;
  vulnerable_range: Text;
  fixed_version: Text;
  cvss_score: number | null;
  url: Text;
}

/** Payload of each event. Source: contract, section 6, payload shapes. */
interface ForgePayloads {
  'forge.issue_opened': IssuePayload;
  'forge.issue_closed': IssuePayload;
  'forge.issue_reopened': IssuePayload;
  'forge.pr_opened': PullRequestPayload;
  'forge.pr_synchronize': PullRequestPayload;
  'forge.pr_merged': PullRequestPayload;
  'forge.pr_closed': PullRequestPayload;
  'forge.push': PushPayload;
  'forge.release_published': ReleasePayload;
  'forge.check_suite_failed': CheckSuitePayload;
  'forge.workflow_run_failed': WorkflowRunPayload;
  'security.dependency_alert': DependencyAlertPayload;
}

/** A delivery in the service's own words; `type` tells which payload it carries. */
export type NormalisedEvent = { [T in ForgeEventType]: { type: T; payload: ForgePayloads[T] } }[ForgeEventType];

type Condition = (body: unknown) => boolean;

interface Row {
  header: string;
  applies: Condition;
  normalise(body: unknown): NormalisedEvent;
}

/** Source: contract, section 6, inbound normalized events; one row here is one row there. */
const ROWS: readonly Row[] = [
  row('issues', acted('opened'), 'forge.issue_opened', issueFields),
  row('issues', acted('closed'), 'forge.issue_closed', issueFields),
  row('issues', acted('reopened'), 'forge.issue_reopened', issueFields),
  row('pull_request', acted('opened'), 'forge.pr_opened', pullRequestFields),
  row('pull_request', acted('synchronize'), 'forge.pr_synchronize', pullRequestFields),
  row('pull_request', closed({ merged: true }), 'forge.pr_merged', pullRequestFields),
  row('pull_request', closed({ merged: false }), 'forge.pr_closed', pullRequestFields),
  row('push', always, 'forge.push', pushFields),
  row('release', acted('published'), 'forge.release_published', releaseFields),
  row('check_suite', failed('check_suite'), 'forge.check_suite_failed', checkSuiteFields),
  row('workflow_run', failed('workflow_run'), 'forge.workflow_run_failed', workflowRunFields),
  row('dependabot_alert', acted('created', 'reopened', 'reintroduced'), 'security.dependency_alert', dependencyAlertFields),
];

/**
 * Maps a verified delivery to its event, or to null when no row of the contract lists it.
 * The body is whatever JSON the sender signed: a missing or wrong-typed field becomes null (a list: empty), nothing throws,
 * and every string can be stored by PostgreSQL.
 * Source: contract, section 6.
 */
export function normalise(eventHeader: string, body: unknown): NormalisedEvent | null {
  if (!isRecord(body)) return null;
  return ROWS.find((row) => row.header === eventHeader && row.applies(body))?.normalise(body) ?? null;
}

/** Full name of the delivery's repository; also of unlisted events, for the receipt. */
export const repoOf = (body: unknown): Text => text(at(body, 'repository', 'full_name'));

/** The forge's own word for what happened; push has none. */
export const actionOf = (body: unknown): Text => text(at(body, 'action'));

/** A reader returns its event's fields; it may correct a base field (push has no action, whatever its body says). */
type Reader<T extends ForgeEventType> = (body: unknown) => Omit<ForgePayloads[T], keyof Base> & Partial<Base>;

function row<T extends ForgeEventType>(header: string, applies: Condition, type: T, read: Reader<T>): Row {
  const normalised = (body: unknown) => ({ type, payload: { ...baseFields(body), ...read(body) } });
  // The compiler cannot follow T into the union; the parameters already tie the reader to the name.
  return { header, applies, normalise: (body) => normalised(body) as unknown as NormalisedEvent };
}

// ---- conditions

function acted(...actions: string[]): Condition {
  return (body) => actions.some((action) => action === at(body, 'action'));
}

/** A closed pull request that does not say whether it was merged is neither: guessing would close or keep someone's task. */
function closed({ merged }: { merged: boolean }): Condition {
  return (body) => at(body, 'action') === 'closed' && at(body, 'pull_request', 'merged') === merged;
}

function failed(subject: string): Condition {
  return (body) => at(body, 'action') === 'completed' && at(body, subject, 'conclusion') === 'failure';
}

function always(): boolean {
  return true;
}

// ---- field readers

function baseFields(body: unknown): Base {
  return { repo: repoOf(body), sender: text(at(body, 'sender', 'login')), action: actionOf(body) };
}

function issueFields(body: unknown) {
  const issue = at(body, 'issue');
  return {
    issue_number: columnInteger(at(issue, 'number')),
    title: text(at(issue, 'title')),
    url: text(at(issue, 'html_url')),
    created_at: timestamp(at(issue, 'created_at')),
    labels: texts(at(issue, 'labels'), 'name'),
  };
}

function pullRequestFields(body: unknown) {
  const pull = at(body, 'pull_request');
  const title = text(at(pull, 'title'));
  const home = { repo: repoOf(body), url: text(at(body, 'repository', 'html_url')) };
  return {
    pr_number: columnInteger(at(pull, 'number')),
    title,
    url: text(at(pull, 'html_url')),
    merged: flag(at(pull, 'merged')),
    created_at: timestamp(at(pull, 'created_at')),
    merged_at: timestamp(at(pull, 'merged_at')),
    base: text(at(pull, 'base', 'ref')),
    head: text(at(pull, 'head', 'ref')),
    head_sha: text(at(pull, 'head', 'sha')),
    closes_issues: closingIssues([title ?? '', text(at(pull, 'body')) ?? ''], home),
  };
}

/** Most commit messages that a push carries. Source: contract, section 6, payload shapes. */
const MAX_MESSAGES = 20;

function pushFields(body: unknown) {
  const commits = list(at(body, 'commits'));
  return {
    action: null,
    ref: text(at(body, 'ref')),
    commit_count: commits.length,
    messages: texts(commits.slice(0, MAX_MESSAGES), 'message'),
  };
}

function releaseFields(body: unknown) {
  const release = at(body, 'release');
  return {
    tag: text(at(release, 'tag_name')),
    name: text(at(release, 'name')),
    url: text(at(release, 'html_url')),
  };
}

function checkSuiteFields(body: unknown) {
  const suite = at(body, 'check_suite');
  return { branch: text(at(suite, 'head_branch')), sha: text(at(suite, 'head_sha')) };
}

function workflowRunFields(body: unknown) {
  const run = at(body, 'workflow_run');
  const numbers = list(at(run, 'pull_requests')).map((pull) => columnInteger(at(pull, 'number')));
  const prNumber = numbers.find((number) => number !== null) ?? null;
  return {
    run_id: integer(at(run, 'id')),
    branch: text(at(run, 'head_branch')),
    sha: text(at(run, 'head_sha')),
    name: text(at(run, 'name')),
    url: text(at(run, 'html_url')),
    pr_number: prNumber,
    // A run of a fork's pull request lists no pull request; only what started it tells that it belongs to one.
    on_pr: prNumber !== null || (text(at(run, 'event'))?.startsWith('pull_request') ?? false),
  };
}

function dependencyAlertFields(body: unknown) {
  const alert = at(body, 'alert');
  const advisory = at(alert, 'security_advisory');
  // The advisory may cover several packages and ranges; the vulnerability is the one that this repository has.
  const vulnerability = at(alert, 'security_vulnerability');
  return {
    ghsa_id: text(at(advisory, 'ghsa_id')),
    cve_id: text(at(advisory, 'cve_id')),
    severity: text(at(vulnerability, 'severity')) ?? text(at(advisory, 'severity')),
    package: text(at(alert, 'dependency', 'package', 'name')) ?? text(at(vulnerability, 'package', 'name')),
    ecosystem: text(at(alert, 'dependency', 'package', 'ecosystem')) ?? text(at(vulnerability, 'package', 'ecosystem')),
    vulnerable_range: text(at(vulnerability, 'vulnerable_version_range')),
    fixed_version: text(at(vulnerability, 'first_patched_version', 'identifier')),
    cvss_score: finite(at(advisory, 'cvss', 'score')),
    url: text(at(alert, 'html_url')),
  };
}

// ---- values of unknown type

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path of own properties; undefined where the path leaves the objects. What an object inherits is no field. */
function at(source: unknown, ...path: string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The strings that the items of a list carry under `key`; items without one are left out. */
const texts = (value: unknown, key: string): string[] =>
  list(value)
    .map((item) => text(at(item, key)))
    .filter((item) => item !== null);

/** A string as sent, but for NUL and lone surrogates, which PostgreSQL's text and jsonb refuse. */
function text(value: unknown): Text {
  if (typeof value !== 'string') return null;
  return value.replaceAll('\u0000', '\uFFFD').replace(/\p{Cs}/gu, '\uFFFD');
}

const flag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

const finite = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** Run ids are past 2^31 already. */
const integer = (value: unknown): number | null => (typeof value === 'number' && Number.isSafeInteger(value) ? value : null);

/** Issue and pull request numbers go into PostgreSQL `integer` columns. */
function columnInteger(value: unknown): number | null {
  const number = integer(value);
  return number !== null && number >= 1 && number < 2 ** 31 ? number : null;
}

const ISO_8601 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A time that exists, in UTC: as sent when it is so already, else converted. Source: contract, section 2, conventions. */
function timestamp(value: unknown): Timestamp {
  if (typeof value !== 'string') return null;
  const [, day = '', zone] = ISO_8601.exec(value) ?? [];
  const time = new Date(value);
  const year = time.getUTCFullYear();
  // PostgreSQL refuses the year 0, and the 30th of February, which `Date` rolls over to March.
  if (zone === undefined || !(year >= 1 && year <= 9999) || !new Date(day).toISOString().startsWith(day)) return null;
  return zone === 'Z' ? value : time.toISOString();
}
