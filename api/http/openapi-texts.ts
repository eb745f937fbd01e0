/** Introduction and tags of the document. */
import { SEATS } from '../platform/access/access.js';
import type { Endpoint } from '../platform/endpoint/endpoint.js';
import { rowsFields } from '../platform/endpoint/pages.js';

/** Lists that are objects by contract: `listTokens` in `tokens`. */
const objectLists = (endpoints: readonly Endpoint[]): string =>
  endpoints
    .map((endpoint) => ({ id: endpoint.id, fields: rowsFields(endpoint).map((field) => `\`${field}\``) }))
    .flatMap(({ id, fields }) => (fields.length > 0 ? [`\`${id}\` in ${fields.join(' and ')}`] : []))
    .join(', ');

const PAGINATION = `A list that takes \`limit\` and \`offset\`, or \`limit\` and \`before\`, goes on: follow \`Link\` with \`rel="next"\` until there is none.
\`before\` is the id of the last row that you have. \`X-Total-Count\`, if present, is the length of the whole list.
\`X-Truncated: true\` marks a list that is not whole; if it has a \`Link\`, that leads to the rest. Any other list without \`Link\` is whole.
A list ends early at 10 MB of its body, with \`X-Truncated: true\`, all fields of its rows, and a \`Link\` where it pages.
A search returns the best results only. Lists are arrays, but for these, which hold their rows in a field:`;

/** What the service is, in one sentence. */
export const SUMMARY =
  'Human approval for automated changes: teams, projects and tasks, and automations that wait at approval gates.';

/** Returns the introduction of the document of these routes. */
export const buildIntroduction = (endpoints: readonly Endpoint[]): string => `${SUMMARY}

## Authentication
Sign in with \`POST /api/auth/login\`, or create a personal access token. Send either as \`Authorization: Bearer …\`.

## Ids
Ids are opaque strings. An id that is unknown, malformed or in the trash is a 404; one of a team without membership is a 403.

## Errors
Every error has the same body. Branch on \`error_code\`; \`message\` says what is wrong, and \`detail\` adds to it or lists fields.
Every response carries \`X-Correlation-ID\`; quote it when you ask for support. The audit entry has the same id.

## Unknown fields
Unknown body fields and query parameters are ignored and named in \`X-Ignored-Fields\`. With \`Prefer: handling=strict\` they are a 422.

## Concurrency
Send the \`version\` you last read, or \`If-Match\`: an outdated write is then a 409 instead of a lost update.

## Idempotency
A POST that lists the header \`Idempotency-Key\` takes one: the same key within 24 hours returns the stored response.
Uploads, and calls that return a secret, ignore it.

## Pagination
${PAGINATION} ${objectLists(endpoints)}.

## Rate limits
Limited routes return \`RateLimit\` and \`RateLimit-Policy\`. After a 429 wait for \`Retry-After\` seconds.

## Versions
The version of this document is the version of the API: it changes when clients have to change. Fields and enum values may be added at
any time. The product has its own version, which changes with every release.`;

export const TAGS: Record<string, string> = {
  Auth: 'Authentication.',
  'Two-factor': 'Two-factor authentication with an authenticator app.',
  Passwords: 'Reset and change the password.',
  Sessions: 'Active sessions and trusted devices.',
  Tokens: 'Personal access tokens: scripts and CI act as their owner.',
  Teams: `Teams, members, invitations and roles: ${SEATS.join(', ')}.`,
  Projects: 'Projects of a team. Every write returns the id of its audit entry.',
  Tasks: 'Tasks of a project, nested to 20 levels.',
  Stages: 'Steps that a team names within the four statuses of its tasks.',
  'Work items': 'The work graph: tasks, projects, files, notes, whiteboards and docs, and the relations between them.',
  Search: 'Full-text search over the items of your teams.',
  Files: 'Uploaded files. Each is a work item of the type `file`.',
  'Custom fields': 'Fields that a team defines for its tasks or projects, and their values.',
  'Bulk data': 'Exports and imports of the data of a team, as jobs with progress.',
  'Saved views': 'Filters, order and layout that a user keeps, for themselves or a team, and what they find.',
  Comments: 'Comments on tasks, with one level of replies.',
  Cycles: 'Periods of work of a team or a project: what a cycle commits to, its completion and its burn-down.',
  Notes: 'Notes of a team or a project. Each is a work item too.',
  Trash: 'Items deleted in the last 30 days.',
  Activity: 'Changes in your teams, one line each.',
  Events: 'Changes as they are committed, as a list or a stream, for clients that keep themselves up to date.',
  Audit: 'The hash-chained log of every change, for admins of teams on the Scale plan.',
  Automations: 'A trigger, a condition and actions; their runs; approval gates pause a run.',
  'AI workspace': 'The agent: sessions, messages, and the plans that it proposes. Nothing changes before a person confirms.',
  Approvals: 'Runs paused at a gate, and their decisions.',
  'Change requests':
    'Any program asks people for a yes before it acts, bound to exactly what it will do; the approval is used once.',
  'MCP gateway': 'A gate before other MCP servers: their tools as an admin pins them, and people who decide about calls.',
  Receipts: 'Signed proofs that people approved an operation, for the service that executes it.',
  'Dead letter': 'Failed runs and their replay.',
  Secrets: 'Named values of a team, usable in actions, never readable.',
  Integrations: 'Services connected with an account of the user.',
  Notifications: 'In-app messages and approval requests.',
  Admin: 'Administration of the installation: users, plans, impersonation.',
  Webhooks: 'Endpoints outside that receive a team’s events, signed, and the deliveries to them.',
  Runners: 'Programs on machines of a team, which ask for jobs, and the jobs that they run. A runner only calls out.',
  Forge: 'The inbound webhook of a code host, and repositories bound to a team.',
};
