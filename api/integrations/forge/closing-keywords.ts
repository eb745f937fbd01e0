/** The repository of a pull request, which its text may leave out. */
interface Repository {
  /** `owner/name`; null if the delivery names none, which leaves only `#n`. */
  readonly repo: string | null;
  /** Web address of the repository; null accepts its issue address on any host. */
  readonly url: string | null;
}

/** Maximum issues that one pull request links. */
const MAX_ISSUES = 100;
/** Issue numbers are stored in a PostgreSQL `integer`. */
const MAX_NUMBER = 2 ** 31 - 1;
/** Maximum length of `owner/name`; code hosts allow about 140. Keeps the work per keyword constant. */
const MAX_REPO_LENGTH = 200;
/** Maximum length of a site (`host/` and optional path), for the same reason. */
const MAX_SITE_LENGTH = 300;

// Each pattern is bounded in length or cannot fail after a run, so none backtracks over its input.
const KEYWORD = /close[sd]?|fix(?:e[sd])?|resolve[sd]?/gi;
/** Blanks, a colon, blanks, and at most one line end: a blank line ends the sentence ("## Fixes", then "#12 was ..."). */
const GAP = /[^\S\r\n]*(?::[^\S\r\n]*)?(?:\r?\n[^\S\r\n]*)?/y;
/** Starts with a word character, so it can follow a keyword only after a blank or a colon. */
const REPO = /^\w[\w.-]*\/[\w.-]+$/;
const SCHEME = /https?:\/\//iy;
const ANY_HOST = /[^\s/?#]{1,253}\//y;
const DIGITS = /[0-9]+/y;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;

/**
 * Returns the numbers of this repository's issues that the texts close: first 100, unique, in order of appearance. Matches
 * close(s|d), fix(es|ed), resolve(s|d) in any case, an optional colon, then `#n`, `owner/name#n` or the issue's address. One
 * keyword closes one issue. Runs in linear time, because the texts are untrusted.
 */
export function closingIssues(texts: readonly string[], repository: Repository): number[] {
  const target = resolveTarget(repository);
  const found = new Set<number>();
  for (const text of texts) {
    for (const match of text.matchAll(KEYWORD)) {
      const end = match.index + match[0].length;
      if (isWord(codePointBefore(text, match.index)) || isWord(text.codePointAt(end))) continue;
      const issue = issueAt(text, end, target);
      if (issue !== null) found.add(issue);
      if (found.size === MAX_ISSUES) return [...found];
    }
  }
  return [...found];
}

/** The repository in comparable form: lower case, without scheme; null if it cannot be compared. */
interface Target {
  repo: string | null;
  /** Prefix of `owner/name` in the repository's address, such as `forge.example/`. */
  site: string | null;
}

function resolveTarget({ repo, url }: Repository): Target {
  if (repo === null || repo.length > MAX_REPO_LENGTH || !REPO.test(repo)) return { repo: null, site: null };
  const name = repo.toLowerCase();
  const address = url === null || url.length > MAX_SITE_LENGTH + name.length ? '' : url.toLowerCase().replace(/^https?:\/\//, '');
  return { repo: name, site: address.endsWith(`/${name}`) ? address.slice(0, -name.length) : null };
}

/** Returns the issue right after a keyword that ends at `end`, or null. */
function issueAt(text: string, end: number, target: Target): number | null {
  const start = after(GAP, text, end) ?? end;
  if (text[start] === '#') return numberAt(text, start + 1);
  if (target.repo === null) return null;
  const marked = afterLiteral(`${target.repo}#`, text, start) ?? afterAddress(text, start, target.repo, target.site);
  return marked === null ? null : numberAt(text, marked);
}

/** Returns where the number starts in `https://site/owner/name/issues/<n>` of this repository, or null. */
function afterAddress(text: string, start: number, repo: string, site: string | null): number | null {
  const host = after(SCHEME, text, start);
  if (host === null) return null;
  const path = site === null ? after(ANY_HOST, text, host) : afterLiteral(site, text, host);
  return path === null ? null : afterLiteral(`${repo}/issues/`, text, path);
}

/** Returns an issue number that ends at a word boundary and fits the column, or null. */
function numberAt(text: string, start: number): number | null {
  const end = after(DIGITS, text, start);
  if (end === null || isWord(text.codePointAt(end))) return null;
  const value = Number(text.slice(start, end));
  return value >= 1 && value <= MAX_NUMBER ? value : null;
}

/** Returns the index after the sticky pattern's match at `start`, or null. */
function after(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Returns the index after a lower-case literal found at `start` in any case, or null. */
function afterLiteral(literal: string, text: string, start: number): number | null {
  const end = start + literal.length;
  return text.slice(start, end).toLowerCase() === literal ? end : null;
}

const isWord = (codePoint: number | undefined): boolean =>
  codePoint !== undefined && WORD_CHARACTER.test(String.fromCodePoint(codePoint));

/** Returns the whole character before `index`; half a surrogate pair would never match as a letter. */
function codePointBefore(text: string, index: number): number | undefined {
  const pair = index > 1 ? text.codePointAt(index - 2) : undefined;
  return pair !== undefined && pair > 0xff_ff ? pair : text.codePointAt(index - 1);
}
