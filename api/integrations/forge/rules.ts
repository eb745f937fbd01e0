import { closingIssues } from './closing-keywords.js';
import { at, columnInteger, finite, flag, integer, isRecord, list, text, texts, timestamp } from './json-values.js';
import type { Base, ForgePayloads, Text } from './payloads.js';
import type { ForgeEventType } from '../../platform/events/catalogue/forge.js';

/** A normalized delivery; `type` determines its payload. */
export type NormalisedEvent = { [T in ForgeEventType]: { type: T; payload: ForgePayloads[T] } }[ForgeEventType];

type Condition = (body: unknown) => boolean;

interface Row {
  type: ForgeEventType;
  header: string;
  applies: Condition;
  normalise(body: unknown): NormalisedEvent;
}

/** One row per kind of event; the first that applies wins. */
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
 * Maps a verified delivery to its event, or to null if no row matches. The body is untrusted JSON: a missing or mistyped field
 * becomes null (a list: empty), nothing throws, and PostgreSQL can store every string.
 */
export function normalise(eventHeader: string, body: unknown): NormalisedEvent | null {
  if (!isRecord(body)) return null;
  return ROWS.find((row) => row.header === eventHeader && row.applies(body))?.normalise(body) ?? null;
}

/** Returns the names of all fields of such an event. */
export const forgeFieldNames = (type: ForgeEventType): string[] =>
  ROWS.flatMap((each) => (each.type === type ? Object.keys(each.normalise({}).payload) : []));

/** Returns the full name of the delivery's repository, also for unlisted events. */
export const readRepo = (body: unknown): Text => text(at(body, 'repository', 'full_name'));

/** Returns the code host's name of the action; push has none. */
export const readAction = (body: unknown): Text => text(at(body, 'action'));

/** Reads an event's fields; may override a base field (push has no action, whatever its body says). */
type Reader<T extends ForgeEventType> = (body: unknown) => Omit<ForgePayloads[T], keyof Base> & Partial<Base>;

function row<T extends ForgeEventType>(header: string, applies: Condition, type: T, read: Reader<T>): Row {
  const normalised = (body: unknown) => ({ type, payload: { ...baseFields(body), ...read(body) } });
  // The compiler cannot follow T into the union; the parameters already tie the reader to the name.
  return { type, header, applies, normalise: (body) => normalised(body) as unknown as NormalisedEvent };
}

// ---- conditions

function acted(...actions: string[]): Condition {
  return (body) => actions.some((action) => action === at(body, 'action'));
}

/** A closed pull request without `merged` matches neither event: guessing could close a task wrongly. */
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
  return { repo: readRepo(body), sender: text(at(body, 'sender', 'login')), action: readAction(body) };
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
  const repository = { repo: readRepo(body), url: text(at(body, 'repository', 'html_url')) };
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
    closes_issues: closingIssues([title ?? '', text(at(pull, 'body')) ?? ''], repository),
  };
}

/** Maximum commit messages of a push. */
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
    // A run of a fork's pull request lists no pull request; only its trigger shows that it belongs to one.
    on_pr: prNumber !== null || (text(at(run, 'event'))?.startsWith('pull_request') ?? false),
  };
}

function dependencyAlertFields(body: unknown) {
  const alert = at(body, 'alert');
  const advisory = at(alert, 'security_advisory');
  // The advisory may cover several packages and ranges; the vulnerability is this repository's own.
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
