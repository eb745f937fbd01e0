import fc from 'fast-check';
import { closingIssues } from '../../../../api/integrations/forge/closing-keywords.js';
import { readAction, normalise, readRepo } from '../../../../api/integrations/forge/rules.js';
import { FORGE_EVENTS, FORGE_FAMILIES, listForgeTriggers } from '../../../../api/platform/events/catalogue/forge.js';
import { deliveries, type DeliveryName, realDeliveries, withFields } from '../../../../scripts/fixtures/forge-payloads.js';

const names = Object.keys(deliveries) as DeliveryName[];

/** What a named delivery becomes, after single fields of it were changed. */
const normalised = (name: DeliveryName, patch: Record<string, unknown> = {}) =>
  normalise(deliveries[name].event, withFields(deliveries[name].body, patch));
const buildPayload = (name: DeliveryName, patch: Record<string, unknown> = {}) => normalised(name, patch)?.payload;

const hello = { repo: 'Codertocat/Hello-World', sender: 'Codertocat' };
const issue = {
  ...hello,
  issue_number: 1,
  title: 'Spelling error in the README file',
  url: 'https://github.com/Codertocat/Hello-World/issues/1',
  created_at: '2019-05-15T15:20:18Z',
  labels: ['bug'],
};
const pull = {
  ...hello,
  pr_number: 2,
  title: 'Update the README with new information.',
  url: 'https://github.com/Codertocat/Hello-World/pull/2',
  merged: false,
  created_at: '2019-05-15T15:20:33Z',
  merged_at: null,
  base: 'master',
  head: 'changes',
  head_sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
  closes_issues: [],
};
const merged = { ...pull, action: 'closed', merged: true, merged_at: '2019-05-15T15:21:18Z' };
const push = { ...hello, action: null };
const release = {
  ...hello,
  action: 'published',
  tag: '0.0.1',
  name: '',
  url: 'https://github.com/Codertocat/Hello-World/releases/tag/0.0.1',
};
const run = {
  repo: 'octo-org/octo-repo',
  sender: 'Codertocat',
  action: 'completed',
  run_id: 289_782_451,
  branch: 'master',
  sha: '3484a3fb816e0859fd6e1cea078d76385ff50625',
  name: 'CI',
  url: 'https://github.com/octo-org/octo-repo/actions/runs/289782451',
  pr_number: null,
  on_pr: false,
};
const alert = {
  repo: 'wolfy1339/pika-pack',
  sender: 'github',
  action: 'created',
  ghsa_id: 'GHSA-c2qf-rxjj-qqgw',
  cve_id: 'CVE-2022-25883',
  severity: 'medium',
  package: 'semver',
  ecosystem: 'npm',
  vulnerable_range: '< 7.5.2',
  fixed_version: '7.5.2',
  cvss_score: 5.3,
  url: 'https://github.com/wolfy1339/pika-pack/security/dependabot/20',
};

const mapped: [DeliveryName, string, Record<string, unknown>][] = [
  ['issues.opened', 'forge.issue_opened', { ...issue, action: 'opened' }],
  ['issues.closed', 'forge.issue_closed', { ...issue, action: 'closed' }],
  ['issues.reopened', 'forge.issue_reopened', { ...issue, action: 'reopened', created_at: '2021-07-05T18:05:24Z' }],
  ['pull_request.opened', 'forge.pr_opened', { ...pull, action: 'opened' }],
  ['pull_request.opened.without_body', 'forge.pr_opened', { ...pull, action: 'opened' }],
  ['pull_request.opened.closing', 'forge.pr_opened', { ...pull, action: 'opened', closes_issues: [1] }],
  ['pull_request.synchronize', 'forge.pr_synchronize', { ...pull, action: 'synchronize' }],
  ['pull_request.merged', 'forge.pr_merged', merged],
  ['pull_request.merged.closing', 'forge.pr_merged', { ...merged, closes_issues: [1] }],
  ['pull_request.closed', 'forge.pr_closed', { ...pull, action: 'closed' }],
  ['push.branch', 'forge.push', { ...push, ref: 'refs/heads/master', commit_count: 1, messages: ['Initial commit'] }],
  ['push.tag', 'forge.push', { ...push, ref: 'refs/tags/simple-tag', commit_count: 0, messages: [] }],
  ['push.tag_deleted', 'forge.push', { ...push, ref: 'refs/tags/simple-tag', commit_count: 0, messages: [] }],
  ['release.published', 'forge.release_published', release],
  ['release.published.unnamed', 'forge.release_published', { ...release, name: null }],
  [
    'check_suite.failed',
    'forge.check_suite_failed',
    { ...hello, action: 'completed', branch: 'changes', sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821' },
  ],
  ['workflow_run.failed', 'forge.workflow_run_failed', run],
  ['workflow_run.failed.on_pr', 'forge.workflow_run_failed', { ...run, pr_number: 2, on_pr: true }],
  ['workflow_run.failed.on_fork_pr', 'forge.workflow_run_failed', { ...run, pr_number: null, on_pr: true }],
  ['dependabot_alert.created', 'security.dependency_alert', alert],
  ['dependabot_alert.reopened', 'security.dependency_alert', { ...alert, action: 'reopened' }],
  ['dependabot_alert.reintroduced', 'security.dependency_alert', { ...alert, action: 'reintroduced' }],
  ['dependabot_alert.unscored', 'security.dependency_alert', { ...alert, cve_id: null, fixed_version: null, cvss_score: null }],
];
const listed = new Set<string>(mapped.map(([name]) => name));
const unlisted = names.filter((name) => !listed.has(name));

describe('mapping of real payloads', () => {
  it.each(mapped)('%s becomes %s', (name, type, payload) => {
    expect(normalised(name)).toStrictEqual({ type, payload });
  });

  it('reaches each of the 12', () => {
    expect(FORGE_EVENTS).toHaveLength(12);
    expect(new Set(mapped.map(([, type]) => type))).toEqual(new Set(FORGE_EVENTS));
  });

  it.each(unlisted)('%s is in no row', (name) => {
    expect(normalised(name)).toBeNull();
  });

  it('leaves out states, pings and unlisted types alike', () => {
    expect(unlisted).toEqual(
      expect.arrayContaining(['check_suite.succeeded', 'workflow_run.succeeded', 'dependabot_alert.fixed', 'ping.repository']),
    );
    expect(unlisted.length).toBeGreaterThan(20);
  });

  it('needs the exact event header', () => {
    const { body } = deliveries['issues.opened'];
    for (const header of ['', 'issue', 'Issues', 'issues ', 'label', 'toString', '__proto__', 'constructor']) {
      expect(normalise(header, body)).toBeNull();
    }
  });

  it('maps the whole public collection without a surprise', () => {
    const listedHeaders = ['issues', 'pull_request', 'push', 'release', 'check_suite', 'workflow_run', 'dependabot_alert'];
    for (const { event, body } of realDeliveries) {
      const result = normalise(event, body);
      if (!listedHeaders.includes(event)) expect(result).toBeNull();
      if (result) expect(result.payload).toMatchObject({ repo: expect.any(String), sender: expect.any(String) });
    }
  });
});

describe('conditions', () => {
  it('a closed pull request counts only when it says whether it was merged', () => {
    for (const value of [null, 0, 1, 'true', 'false', [], {}]) {
      expect(normalised('pull_request.closed', { 'pull_request.merged': value })).toBeNull();
    }
  });

  it.each(['success', 'neutral', 'cancelled', 'timed_out', 'action_required', 'Failure', null])(
    'conclusion %j is no failure',
    (conclusion) => {
      expect(normalised('check_suite.failed', { 'check_suite.conclusion': conclusion })).toBeNull();
      expect(normalised('workflow_run.failed', { 'workflow_run.conclusion': conclusion })).toBeNull();
    },
  );

  it.each(['created', 'edited', 'unpublished', 'prereleased', 'released', 'deleted'])(
    'a release %s is not published',
    (action) => {
      expect(normalised('release.published', { action })).toBeNull();
    },
  );

  it.each(['fixed', 'dismissed', 'auto_dismissed', 'auto_reopened'])('an alert %s is none', (action) => {
    expect(normalised('dependabot_alert.created', { action })).toBeNull();
  });

  it('push has no action, even when its body has one', () => {
    const body = { ...(deliveries['push.branch'].body as object), action: 'opened' };
    expect(normalise('push', body)).toMatchObject({ type: 'forge.push', payload: { action: null } });
  });
});

describe('fields', () => {
  const pushWith = (count: number) =>
    buildPayload('push.branch', { commits: Array.from({ length: count }, (_, index) => ({ message: `commit ${index + 1}` })) });

  it.each([0, 1, 19, 20, 21, 2048])('a push of %i commits carries at most the first 20 messages', (count) => {
    const messages = Array.from({ length: Math.min(count, 20) }, (_, index) => `commit ${index + 1}`);
    expect(pushWith(count)).toMatchObject({ commit_count: count, messages });
  });

  it('labels are the names, in order; what has no name is left out', () => {
    const labels = [{ name: 'b' }, { name: 'a' }, { name: 7 }, {}, null, 'c', ['d'], { name: '' }];
    expect(buildPayload('issues.opened', { 'issue.labels': labels })).toMatchObject({ labels: ['b', 'a', ''] });
  });

  it('a run takes the first pull request with a number', () => {
    const pulls = [null, {}, { number: '3' }, { number: 4 }, { number: 5 }];
    expect(buildPayload('workflow_run.failed', { 'workflow_run.pull_requests': pulls })).toMatchObject({
      pr_number: 4,
      on_pr: true,
    });
  });

  it.each(['pull_request', 'pull_request_target', 'pull_request_review'])('a run started by %s is on a pull request', (event) => {
    expect(buildPayload('workflow_run.failed', { 'workflow_run.event': event })).toMatchObject({ pr_number: null, on_pr: true });
  });

  it('run ids may pass 2^31, numbers of issues and pull requests may not', () => {
    expect(buildPayload('workflow_run.failed', { 'workflow_run.id': 17_000_000_000 })).toMatchObject({ run_id: 17_000_000_000 });
    for (const number of [0, -1, 1.5, 2 ** 31, Number.POSITIVE_INFINITY, '1', null, true, [1]]) {
      expect(buildPayload('issues.opened', { 'issue.number': number })).toMatchObject({ issue_number: null });
      expect(buildPayload('pull_request.opened', { 'pull_request.number': number })).toMatchObject({ pr_number: null });
    }
    expect(buildPayload('issues.opened', { 'issue.number': 2 ** 31 - 1 })).toMatchObject({ issue_number: 2 ** 31 - 1 });
  });

  it.each<[unknown, string | null]>([
    ['2019-05-15T15:20:18Z', '2019-05-15T15:20:18Z'],
    ['2019-05-15T15:20:18.123456Z', '2019-05-15T15:20:18.123456Z'],
    ['2019-05-15T15:20:18+02:00', '2019-05-15T13:20:18.000Z'],
    ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00Z'],
    ['2019-02-29T00:00:00Z', null],
    ['2019-13-01T00:00:00Z', null],
    ['2019-05-15T25:00:00Z', null],
    ['0000-01-01T00:00:00Z', null],
    ['9999-12-31T23:59:59-01:00', null],
    ['2019-05-15', null],
    ['2019-05-15T15:20:18', null],
    ['yesterday', null],
    ['', null],
    [1_557_933_618, null],
    [{}, null],
  ])('time %j is kept as %j', (sent, kept) => {
    expect(buildPayload('issues.opened', { 'issue.created_at': sent })).toMatchObject({ created_at: kept });
  });

  it('falls back to the vulnerability when the alert names no dependency, and to the advisory for the severity', () => {
    const patch = {
      'alert.dependency': null,
      'alert.security_vulnerability.severity': null,
      'alert.security_advisory.severity': 'high',
    };
    expect(buildPayload('dependabot_alert.created', patch)).toMatchObject({
      package: 'semver',
      ecosystem: 'npm',
      severity: 'high',
    });
  });

  it('replaces only what PostgreSQL cannot store', () => {
    const title = 'a\u0000b \uD83D\uDE80 \uD83D x \uDE80 <b>\r\n\u0001\u{10FFFF}';
    expect(
      buildPayload('issues.opened', { 'issue.title': title, 'issue.labels': [{ name: '\u0000' }], action: 'opened' }),
    ).toMatchObject({
      title: 'a\uFFFDb \uD83D\uDE80 \uFFFD x \uFFFD <b>\r\n\u0001\u{10FFFF}',
      labels: ['\uFFFD'],
    });
  });

  it('reads repository and action of any body', () => {
    expect(readRepo(deliveries['star.created'].body)).toBe('Codertocat/Hello-World');
    expect(readRepo(deliveries['ping.organization'].body)).toBeNull();
    expect(readAction(deliveries['star.created'].body)).toBe('created');
    for (const body of [null, undefined, 1, 'x', [], { repository: [], action: 1 }]) {
      expect([readRepo(body), readAction(body)]).toEqual([null, null]);
    }
  });
});

describe('triggers', () => {
  it('families hold what their names say', () => {
    expect(FORGE_FAMILIES['forge.pull_request']).toEqual(FORGE_EVENTS.filter((type) => type.startsWith('forge.pr_')));
    expect(FORGE_FAMILIES['forge.issue']).toEqual(FORGE_EVENTS.filter((type) => type.startsWith('forge.issue_')));
    expect(FORGE_FAMILIES['forge.*']).toHaveLength(11);
  });

  it.each([
    ['forge.pr_merged', ['forge.pr_merged', 'forge.pull_request', 'forge.*']],
    ['forge.issue_closed', ['forge.issue_closed', 'forge.issue', 'forge.*']],
    ['forge.push', ['forge.push', 'forge.*']],
    ['security.dependency_alert', ['security.dependency_alert']],
    ['task.created', ['task.created']],
  ])('%s arms %j', (type, triggers) => {
    expect(listForgeTriggers(type)).toEqual(triggers);
  });
});

describe('closing keywords', () => {
  const home = { repo: 'acme/rocket', url: 'https://github.com/acme/rocket' };
  const closes = (...texts: string[]) => closingIssues(texts, home);

  it.each('close closes closed fix fixes fixed resolve resolves resolved'.split(' '))('%s', (keyword) => {
    expect(closes(`${keyword} #12`)).toEqual([12]);
    expect(closes(`${keyword.toUpperCase()}: #12`)).toEqual([12]);
    expect(closes(`This ${keyword}\t#12, too`)).toEqual([12]);
    expect(
      closes(`re${keyword} #12`, `${keyword}x #12`, `_${keyword} #12`, `${keyword}_ #12`, `é${keyword} #12`, `${keyword}é #12`),
    ).toEqual([]);
  });

  it.each<[string, number[]]>([
    ['Fixes #1', [1]],
    ['fixes#1', [1]],
    ['fixes:#1', [1]],
    ['fixes : #1', [1]],
    ['Fixes\n#1', [1]],
    ['Fixes:\r\n  #1', [1]],
    ['## Bug fixes\n\n#1 was hard', []],
    ['(fixes #1)', [1]],
    ['**Fixes** #1', []],
    ['Fixes #1.', [1]],
    ['Fixes #1, #2', [1]],
    ['Fixes #1, closes #2 and resolves #1', [1, 2]],
    ['fix fix #1', [1]],
    ['fixes:: #1', []],
    ['fixes issue #1', []],
    ['fixes # 1', []],
    ['fixes 1', []],
    ['fixes #', []],
    ['fixes #0', []],
    ['fixes #007', [7]],
    ['fixes #-1', []],
    ['fixes #12abc', []],
    ['fixes #12_', []],
    ['fixes #12é', []],
    ['fixes #\uFF11', []],
    ['fixes #2147483647', [2_147_483_647]],
    ['fixes #2147483648', []],
    [`fixes #${'9'.repeat(400)}`, []],
    ['fixing #1, fixe #2, closer #3, resolving #4, unfixed #5', []],
    ['\u{1D400}fixes #1', []],
    ['\u{1F680}fixes #1', [1]],
    ['see #1', []],
    ['', []],
  ])('%j closes %j', (text, issues) => {
    expect(closes(text)).toEqual(issues);
  });

  it.each<[string, number[]]>([
    ['acme/rocket#3', [3]],
    ['ACME/Rocket#3', [3]],
    ['acme/rockets#3', []],
    ['acme/rocket #3', []],
    ['xacme/rocket#3', []],
    ['other/rocket#3', []],
    ['rocket#3', []],
    ['acme/rocket#3x', []],
    ['https://github.com/acme/rocket/issues/3', [3]],
    ['HTTPS://GitHub.com/Acme/Rocket/Issues/3', [3]],
    ['http://github.com/acme/rocket/issues/3).', [3]],
    ['https://github.com/acme/rocket/pull/3', []],
    ['https://github.com/acme/other/issues/3', []],
    ['https://evil.example/acme/rocket/issues/3', []],
    ['https://evil.example/github.com/acme/rocket/issues/3', []],
    ['https://github.com.evil.example/acme/rocket/issues/3', []],
    ['https://github.com/acme/rocket/issues/', []],
    ['https://github.com/acme/rocket/issues/3a', []],
    ['//github.com/acme/rocket/issues/3', []],
  ])('"fixes %s" closes %j', (reference, issues) => {
    expect(closes(`fixes ${reference}`)).toEqual(issues);
    expect(closes(`fixes: ${reference}`)).toEqual(issues);
    expect(closes(`fixes${reference}`)).toEqual([]);
  });

  it('without a known address any host will do, without a name only #n', () => {
    const text = ['fixes https://forge.example:8443/acme/rocket/issues/3, fixes acme/rocket#4, fixes #5'];
    expect(closingIssues(text, { repo: 'acme/rocket', url: null })).toEqual([3, 4, 5]);
    expect(closingIssues(text, { repo: 'acme/rocket', url: 'https://forge.example/unrelated' })).toEqual([3, 4, 5]);
    expect(closingIssues(text, { repo: 'acme/rocket', url: 'https://forge.example:8443/acme/rocket' })).toEqual([3, 4, 5]);
    expect(closingIssues(text, { repo: null, url: null })).toEqual([5]);
    expect(closingIssues(['fixes a b#1, fixes (#2, fixes #3'], { repo: 'a b', url: null })).toEqual([3]);
  });

  it('takes a site below a path', () => {
    const below = { repo: 'acme/rocket', url: 'https://example.org/git/acme/rocket' };
    expect(closingIssues(['fixes https://example.org/git/acme/rocket/issues/3'], below)).toEqual([3]);
    expect(closingIssues(['fixes https://example.org/acme/rocket/issues/3'], below)).toEqual([]);
  });

  it('title before body, unique, the first 100', () => {
    const body = Array.from({ length: 150 }, (_, index) => `closes #${150 - index}`).join(' ');
    const issues = closes('Fixes #42', body);
    expect(issues).toHaveLength(100);
    expect(issues.slice(0, 3)).toEqual([42, 150, 149]);
    expect(new Set(issues).size).toBe(100);
  });

  it('is read from title and body of the pull request, in its own repository', () => {
    const patch = {
      'pull_request.title': 'Fixes #9',
      'pull_request.body':
        'closes codertocat/hello-world#8, closes https://github.com/Codertocat/Hello-World/issues/7, closes octo-org/octo-repo#6',
    };
    expect(buildPayload('pull_request.opened', patch)).toMatchObject({ closes_issues: [9, 8, 7] });
  });

  it('agrees with a plain regular expression', () => {
    const plain =
      /(?<![\p{L}\p{M}\p{N}_])(?:close|closes|closed|fix|fixes|fixed|resolve|resolves|resolved)(?![\p{L}\p{M}\p{N}_])(?<gap>[^\S\r\n]*:?[^\S\r\n]*(?:\r?\n[^\S\r\n]*)?)(?<=[\s:]|(?=#))(?:(?:https?:\/\/github\.com\/acme\/rocket\/issues\/)|(?:acme\/rocket)?#)(?<number>[0-9]+)(?![\p{L}\p{M}\p{N}_])/giu;
    const reference = (text: string) => {
      const numbers = [...text.matchAll(plain)].map((match) => Number(match.groups?.['number']));
      return [...new Set(numbers.filter((number) => number >= 1 && number <= 2_147_483_647))].slice(0, 100);
    };
    const piece = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('fix', 'Fixes', 'CLOSED', 'closes', 'resolve', 'resolved', 'fixe') },
      {
        weight: 6,
        arbitrary: fc.constantFrom(' ', ' ', ':', '\t', '\n', '\r\n', '\r', '\u00A0', '.', '_', 'é', '\uD835', '\uDC00', '#'),
      },
      {
        weight: 6,
        arbitrary: fc.constantFrom('#1', '#2', '#0', '#2147483648', '#3x', 'acme/rocket#4', 'Acme/Rocket#5', 'x/y#6'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('https://github.com/acme/rocket/issues/7', 'https://evil.example/acme/rocket/issues/8'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
    );
    const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (sample) => {
        expect(closes(sample)).toEqual(reference(sample));
      }),
      { numRuns: 1000 },
    );
  });

  /** Two million characters each: quadratic work would be 10^12 steps and run into the suite's time limit; linear is far below it. */
  it.each<[string, string]>([
    ['keywords', 'fix '],
    ['keywords without end', 'closed'],
    ['keywords and colons', 'fix:'],
    ['numbers that are too large', 'fix #99999999999 '],
    ['other repositories', 'fix acme/rocket acme/rocke#'],
    ['half addresses', 'fix https://'],
    ['half issue addresses', 'fix https://github.com/acme/rocket/issues '],
    ['letters', 'c'],
  ])('work grows with the length only: %s', (_name, unit) => {
    expect(closes(unit.repeat(2_000_000 / unit.length))).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['blanks', 'fix', ' '],
    ['line ends', 'fix', '\n'],
    ['colons', 'fix', ':'],
    ['digits', 'fix #', '1'],
    ['a host', 'fix https://', 'a'],
    ['letters', 'fix', 'x'],
  ])('work grows with the length only: one keyword and a run of %s', (_name, start, unit) => {
    expect(closes(`${start}${unit.repeat(2_000_000)}!`)).toEqual([]);
  });

  it('a repository name of any length costs nothing per keyword', () => {
    const repo = `${'a'.repeat(1_000_000)}/b`;
    expect(closingIssues([`fix ${repo}#1 ${'fix a'.repeat(200_000)} fix #2`], { repo, url: `https://x/${repo}` })).toEqual([2]);
  });
});

describe('hostile bodies', () => {
  const bases = mapped.map(([name]) => deliveries[name]);
  const headers = [...new Set(bases.map(({ event }) => event))];

  /** Fields that a payload must have, each with the type of a well-formed value. */
  const shapes = new Map(mapped.map(([name, type]) => [type, Object.keys(buildPayload(name) ?? {}).toSorted()]));
  const expectSound = (result: ReturnType<typeof normalise>) => {
    if (result === null) return;
    expect(FORGE_EVENTS).toContain(result.type);
    expect(Object.keys(result.payload).toSorted()).toEqual(shapes.get(result.type));
    for (const [field, value] of Object.entries(result.payload as object)) {
      if (['labels', 'messages', 'closes_issues'].includes(field)) expect(Array.isArray(value)).toBe(true);
      else expect(value === null || ['string', 'number', 'boolean'].includes(typeof value)).toBe(true);
    }
    // JSON writes NUL and lone surrogates as escapes, and PostgreSQL's jsonb refuses both.
    expect(JSON.stringify(result.payload)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
  };

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a number', 7],
    ['a string', 'opened'],
    ['true', true],
    ['an array', [{ action: 'opened' }]],
    ['an empty array', []],
    ['an empty object', {}],
  ])('%s', (_name, body) => {
    for (const header of headers) {
      const result = normalise(header, body);
      if (header === 'push' && _name === 'an empty object') {
        const payload = { repo: null, sender: null, action: null, ref: null, commit_count: 0, messages: [] };
        expect(result).toStrictEqual({ type: 'forge.push', payload });
      } else expect(result).toBeNull();
    }
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['a number', 3],
    ['a string', 'x'],
    ['an array', [[]]],
  ])('parts that are %s become null', (_name, part) => {
    const body = { action: 'opened', repository: part, sender: part, issue: part };
    expect(normalise('issues', body)?.payload).toStrictEqual({
      repo: null,
      sender: null,
      action: 'opened',
      issue_number: null,
      title: null,
      url: null,
      created_at: null,
      labels: [],
    });
  });

  it('ignores inherited properties', () => {
    const body: unknown = JSON.parse(
      '{"action":"opened","__proto__":{"issue":{"number":5}},"issue":{"__proto__":{"title":"x"}}}',
    );
    expect(normalise('issues', body)?.payload).toMatchObject({ issue_number: null, title: null });
    expect(normalise('issues', Object.create({ action: 'opened' }))).toBeNull();
    expect(
      normalise('pull_request', { action: 'closed', pull_request: { constructor: 1, merged: true } })?.payload,
    ).toMatchObject({ title: null });
    expect(({} as Record<string, unknown>)['issue']).toBeUndefined();
  });

  it('depth costs nothing', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth += 1) deep = depth % 2 ? [deep] : { labels: deep };
    for (const header of headers)
      expectSound(normalise(header, { action: 'opened', issue: deep, pull_request: deep, commits: [deep] }));
  });

  it('never throws, whatever the header and the body', () => {
    const header = fc.oneof(fc.constantFrom(...headers), fc.string());
    fc.assert(
      fc.property(header, fc.anything({ withNullPrototype: true }), (event, body) => {
        expectSound(normalise(event, body));
      }),
    );
  });

  it('never throws and stays storable when any part of a real payload is replaced', () => {
    const value = fc.oneof(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u0000', '\uD800', 'opened'),
    );
    const change = fc.record({
      base: fc.constantFrom(...bases),
      steps: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      value,
    });
    fc.assert(
      fc.property(change, ({ base, steps, value }) => {
        const body = structuredClone(base.body);
        replacePart(body, steps, value);
        expectSound(normalise(base.event, body));
      }),
      { numRuns: 500 },
    );
  });
});

/** Replaces the part that the steps lead to; each step picks one key of what it stands on. */
function replacePart(body: unknown, steps: number[], value: unknown): void {
  let owner = body as Record<string, unknown>;
  for (const [index, step] of steps.entries()) {
    const keys = Object.keys(owner);
    const key = keys[step % keys.length];
    if (key === undefined) return;
    const next = owner[key];
    if (index < steps.length - 1 && typeof next === 'object' && next !== null) owner = next as Record<string, unknown>;
    else {
      owner[key] = value;
      return;
    }
  }
}
