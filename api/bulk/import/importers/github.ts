import { z } from 'zod';
import type { RawRecord } from '../../formats/input.js';
import { ForeignImporter } from './foreign.js';
import type { ImportPlace, Importer, Mapped } from './record.js';
import { getStatus, parseDay } from './values.js';

/** Issues as `gh issue list --state all --json number,title,body,state,…` prints them. Every field but two may be missing. */

/** Beyond what GitHub allows; more are refused before each is looked at. */
const MAX_NAMES = 1_000;
const MAX_COMMENTS = 10_000;

const Author = z.object({ login: z.string() }).partial().nullish();
const Issue = z.object({
  number: z.int().min(1),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string().nullish(),
  stateReason: z.string().nullish(),
  url: z.string().nullish(),
  author: Author,
  createdAt: z.string().nullish(),
  closedAt: z.string().nullish(),
  labels: z
    .array(z.object({ name: z.string() }))
    .max(MAX_NAMES)
    .nullish(),
  assignees: z
    .array(z.object({ login: z.string(), name: z.string().nullish() }))
    .max(MAX_NAMES)
    .nullish(),
  milestone: z.object({ title: z.string(), dueOn: z.string().nullish(), number: z.int().nullish() }).nullish(),
  comments: z
    .array(z.object({ author: Author, body: z.string().nullish(), createdAt: z.string().nullish() }))
    .max(MAX_COMMENTS)
    .nullish(),
});

/** `https://github.com/owner/name/issues/12`, or of a server of one's own. */
const REPOSITORY = /^https:\/\/[^/\s]+\/([^/\s]+\/[^/\s]+)\/issues\/[0-9]+$/;

const toProblem = ({ issues }: z.ZodError): string =>
  issues.some(({ code, path }) => code === 'too_big' && path.length === 1)
    ? 'The issue has more labels, assignees or comments than GitHub allows'
    : 'The record is no issue of gh issue list --json with number and title';

/** Returns the word for a closed issue; GitHub writes `NOT_PLANNED`, and `COMPLETED` or nothing where someone completed it. */
const getClosed = (reason: string | null | undefined): string => {
  const status = getStatus(reason ?? '');
  return status === 'canceled' || status === 'duplicate' ? status : 'closed';
};

export class GithubImporter implements Importer<RawRecord> {
  private readonly foreign: ForeignImporter;

  constructor(place: ImportPlace) {
    this.foreign = new ForeignImporter('github', place);
  }

  map({ line, value }: RawRecord): Mapped {
    const parsed = Issue.safeParse(value);
    if (!parsed.success) return { records: [], notes: [toProblem(parsed.error)] };
    const { number, title, body, state, stateReason, labels, assignees, milestone, comments, url, author, createdAt, closedAt } =
      parsed.data;
    const [, repository = 'GitHub'] = REPOSITORY.exec(url ?? '') ?? [];
    const key = `${repository}#${number}`;
    const isClosed = state?.toLowerCase() === 'closed';
    // A login is no name of ours; the public name may be.
    const names = (assignees ?? []).map(({ login, name }) => (name == null || name === '' ? login : name));
    return this.foreign.map({
      line,
      key,
      title,
      description: body ?? '',
      origin: `Imported from GitHub: ${key}`,
      status: isClosed ? getClosed(stateReason) : 'open',
      priority: undefined,
      assignees: names,
      labels: (labels ?? []).map(({ name }) => name),
      due: undefined,
      hours: undefined,
      points: undefined,
      spent: undefined,
      isArchived: false,
      created: createdAt ?? undefined,
      completed: closedAt ?? undefined,
      creator: author?.login,
      project: { key: repository, name: repository },
      cycle: milestone
        ? {
            key: `${repository} ${milestone.number ?? milestone.title}`,
            name: milestone.title,
            end: parseDay(milestone.dueOn ?? ''),
          }
        : undefined,
      parent: undefined,
      comments: (comments ?? []).map(({ author: by, body: text, createdAt: at }) => ({
        author: by?.login ?? '',
        date: at ?? '',
        text: text ?? '',
      })),
      links: [],
    });
  }
}
