import fc from 'fast-check';
import { failureText, fullSha, proposalsFor, safeName, safeUrl } from '../../../../api/automation/triage/ci-rules.js';
import { ciSubject } from '../../../../api/automation/triage/ci-subject.js';
import { hiddenCharacter } from '../../../../api/gate/staging/hidden-character.js';

const HOST = 'github.com';
const failure = { name: 'CI', branch: 'main', sha: '9F2C11aa', url: 'https://github.com/acme/rocket/actions/runs/7' };

it('says name, branch, commit and address in fixed words', () => {
  expect(failureText(failure, HOST)).toBe(
    'CI failed: `CI` on `main` at `9f2c11a`. https://github.com/acme/rocket/actions/runs/7',
  );
  expect(failureText({ name: null, branch: null, sha: 'main; rm', url: null }, HOST)).toBe(
    'CI failed: `checks` on `unknown branch`.',
  );
});

it.each([
  ['closes the code', 'a` **bold** `b', "a' **bold** 'b"],
  ['mentions somebody', 'notify @max', 'notify (at)max'],
  ['starts a line', 'a\r\n# Heading', 'a # Heading'],
  ['turns the direction', 'a\u202Etxt\u2069', 'atxt'],
  ['holds tags', `a\u{E0041}\u{E0042}`, 'a'],
  ['is empty', ' \u200B ', 'otherwise'],
  ['is long', 'x'.repeat(500), 'x'.repeat(80)],
  ['is half a character', 'a\uD800', 'a\uFFFD'],
])('a name that %s is a name', (_what, given, safe) => {
  expect(safeName(given, 'otherwise')).toBe(safe);
});

it('no name leaves its code span, mentions a user or holds what the plan rejects', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 120 }), fc.string({ unit: 'binary', maxLength: 120 }), (name, branch) => {
      const text = failureText({ ...failure, name, branch }, HOST);
      expect(text.match(/`/g)).toHaveLength(6);
      expect(text).not.toMatch(/@|\n|\r/);
      expect(hiddenCharacter(text)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  'javascript:alert(1)',
  'http://github.com/x',
  'https://github.com.evil.example/x',
  'https://evil.example/github.com',
  'https://user:pass@github.com/x',
  'https://github.com:8443/x',
  'https://github.com/x)[y](https://evil.example',
  `https://github.com/${'x'.repeat(600)}`,
  'no address',
  '//github.com/x',
])('leaves out the address %s', (url) => {
  expect(safeUrl(url, HOST)).toBeNull();
});

it('comments on each task of the pull request, and brings back what was thought ready', () => {
  const tasks = ['todo', 'in_progress', 'in_review', 'done'].map((status) => ({ task_id: `t-${status}`, status }));
  const proposals = proposalsFor(failure, tasks, 'p1', HOST);
  expect(proposals.map(({ tool, entity_id }) => `${tool} ${entity_id}`)).toEqual([
    'task.comment t-todo',
    'task.comment t-in_progress',
    'task.comment t-in_review',
    'task.set_status t-in_review',
    'task.comment t-done',
    'task.set_status t-done',
  ]);
  const many = Array.from({ length: 60 }, (_, n) => ({ task_id: `t${n}`, status: 'done' }));
  expect(proposalsFor(failure, many, null, HOST)).toHaveLength(50);
});

it('without a task proposes one in the bound project, and without a project nothing', () => {
  expect(proposalsFor(failure, [], 'p1', HOST)).toEqual([
    {
      tool: 'task.create',
      entity_id: null,
      params: { project_id: 'p1', title: 'CI failed: CI on main', description: failureText(failure, HOST), tags: ['ci'] },
    },
  ]);
  expect(proposalsFor(failure, [], null, HOST)).toEqual([]);
});

it('a run is named by repository and id, a check suite by its commit; anything else by nothing', () => {
  const of = (facts: { repo: unknown; run_id?: unknown; sha: unknown }, team = 't1') => ciSubject(team, facts);
  const run = of({ repo: 'Acme/Rocket', run_id: 7, sha: 'abc1234' });
  expect(run).toMatch(/^ci:[0-9a-f]{16}:7$/);
  expect(of({ repo: 'acme/rocket', run_id: 7, sha: null })).toBe(run);
  expect(of({ repo: 'acme/rocket', run_id: 7, sha: null }, 't2')).not.toBe(run);
  expect(of({ repo: 'acme/rocket', sha: 'ABC1234' })).toMatch(/:abc1234$/);
  for (const odd of [
    { repo: null, run_id: 7, sha: null },
    { repo: 'a/b', run_id: 1.5, sha: null },
    { repo: 'a/b', sha: 'main' },
  ])
    expect(of(odd)).toBeNull();
  expect(fullSha('g'.repeat(40))).toBeNull();
});
