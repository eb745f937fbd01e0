import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BindOptions, changedSince, differences, look, type Look } from '../../clients/typescript/cli/run/bind.js';
import { canonicalJson } from '../../clients/typescript/canonical.js';
import { hashOperation } from '../../api/gate/staging/operation.js';

// What `assent run` binds, on real files, and whether a second look finds every change.

let dir: string;
const before = process.cwd();
const looks: Look[] = [];

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'assent-bind-')));
  process.chdir(dir);
  script('tool', 'echo one');
  writeFileSync('plan', 'plan one');
});
afterEach(async () => {
  await Promise.all(looks.splice(0).map(({ program }) => program.handle.close()));
  process.chdir(before);
  rmSync(dir, { recursive: true, force: true });
});

function script(name: string, content: string): void {
  writeFileSync(name, `#!/bin/sh\n${content}\n`);
  chmodSync(name, 0o755);
}
const options = (argv: string[], more: Partial<BindOptions> = {}): BindOptions => ({
  argv,
  bindsArguments: true,
  paths: [],
  stdin: undefined,
  hiddenEnv: [],
  shownEnv: [],
  isEnvClean: false,
  ...more,
});
async function see(argv: string[], more: Partial<BindOptions> = {}): Promise<Look> {
  const seen = await look(options(argv, more));
  looks.push(seen);
  return seen;
}
const at = (name: string): string => join(dir, name);
/** Names of what differs between a look now and one after the change. */
async function change(argv: string[], act: () => void, more: Partial<BindOptions> = {}): Promise<string[]> {
  const first = await see(argv, more);
  act();
  const second = await see(argv, more);
  const found = differences(first.arguments, second.arguments);
  // The look that reads only what was touched finds the same.
  const quick = await changedSince(first);
  expect(quick.filter((name) => found.includes(name))).toEqual(quick);
  expect(quick.length > 0).toBe(found.length > 0);
  return found;
}

it('binds the program, the folder and the files that arguments name, also right of =', async () => {
  mkdirSync('modules');
  writeFileSync('modules/a', 'a');
  symlinkSync('plan', 'latest');
  const { arguments: bound, program } = await see(['./tool', 'plan', '-var-file=plan', 'latest', 'modules', 'absent', '-x=']);
  expect(bound).toMatchObject({
    argv: ['./tool', 'plan', '-var-file=plan', 'latest', 'modules', 'absent', '-x='],
    cwd: dir,
    program: { path: at('tool'), size: 19 },
    files: [{ path: at('plan'), size: 8, sha256: createHash('sha256').update('plan one').digest('hex') }],
    folders: [],
    stdin: 'none',
  });
  expect(program.isBinary).toBe(false);
  expect((await see(['./tool', 'plan'], { bindsArguments: false })).arguments.files).toEqual([]);
  const { folders } = (await see(['./tool'], { paths: ['modules', 'plan'] })).arguments;
  expect(folders).toEqual([{ path: at('modules'), files: 1, size: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

it('is hashed by the service as here', async () => {
  writeFileSync('große Datei', 'x');
  const { arguments: bound } = await see(['./tool', 'große Datei', '"\\\u2028', '--a=1'], { stdin: Buffer.from('in') });
  const operation = { system: 'shell', name: 'exec', target: 'me@host', arguments: bound as unknown as Record<string, unknown> };
  expect(canonicalJson(operation)).toBe(hashOperation(operation).text);
});

it.each<[string, () => void, string[]]>([
  ['nothing', () => {}, []],
  ['a file is read', () => void readFileSync('plan'), []],
  ['a file is written', () => writeFileSync('plan', 'plan two'), ['plan']],
  [
    'a file has another content, and the same size and times',
    () => {
      const { atime, mtime } = statSync('plan');
      writeFileSync('plan', 'PLAN ONE');
      utimesSync('plan', atime, mtime);
    },
    ['plan'],
  ],
  ['a file is replaced', () => (writeFileSync('new', 'plan new'), renameSync('new', 'plan')), ['plan']],
  ['a file is gone', () => unlinkSync('plan'), ['plan']],
  ['the program is replaced', () => (script('new', 'echo two'), renameSync('new', 'tool')), ['tool', 'program']],
  ['the program is written', () => appendFileSync('tool', 'echo two\n'), ['tool']],
  [
    'a link leads elsewhere',
    () => (unlinkSync('link'), writeFileSync('other', 'plan one'), symlinkSync('other', 'link')),
    ['plan', 'other'],
  ],
])('finds a change between two looks: %s', async (_, act, names) => {
  symlinkSync('plan', 'link');
  const found = await change(['./tool', names.includes('other') ? 'link' : 'plan'], act);
  const expected = names.filter((name) => name !== 'program').map(at);
  expect(found).toEqual(expected);
});

it('finds another program earlier in the PATH, and another folder in place of ours', async () => {
  mkdirSync('first');
  mkdirSync('second');
  script('second/mine', 'echo one');
  const path = process.env['PATH'];
  process.env['PATH'] = `${at('first')}:${at('second')}:${path}`;
  try {
    expect(await change(['mine'], () => script('first/mine', 'echo one'))).toEqual([
      at('second/mine'),
      'program',
      at('first/mine'),
    ]);
    const seen = await see(['mine']);
    // The process stays in the folder that it is in, and its path leads elsewhere now.
    renameSync(dir, `${dir}.moved`);
    mkdirSync(dir);
    expect(await changedSince(seen)).toContain(dir);
    rmSync(dir, { recursive: true });
    renameSync(`${dir}.moved`, dir);
  } finally {
    process.env['PATH'] = path;
  }
});

it('binds all of a folder, also modes and where links lead, and no more than it may', async () => {
  mkdirSync('modules/deep', { recursive: true });
  writeFileSync('modules/deep/a', 'a');
  symlinkSync('deep/a', 'modules/link');
  const acts: (() => void)[] = [
    () => writeFileSync('modules/deep/a', 'b'),
    () => writeFileSync('modules/deep/new', ''),
    () => chmodSync('modules/deep/a', 0o755),
    () => (unlinkSync('modules/link'), symlinkSync('deep/new', 'modules/link')),
    () => renameSync('modules/deep', 'modules/other'),
  ];
  for (const act of acts) expect(await change(['./tool'], act, { paths: ['modules'] })).toEqual([at('modules')]);
  for (let count = 0; count < 2_001; count += 1) writeFileSync(`modules/${count}`, '');
  await expect(see(['./tool'], { paths: ['modules'] })).rejects.toThrow('at most 2000');
});

it('shows, hides and drops variables', async () => {
  const set = { SECRET_OF_MINE: 'hunter2', REGION: 'eu', LD_PRELOAD: '', BASH_ENV: '/x', ASSENT_TOKEN: 'svc_pat_x' };
  Object.assign(process.env, set);
  try {
    const seen = await see(['./tool'], { hiddenEnv: ['SECRET_OF_MINE'], shownEnv: ['REGION'], isEnvClean: true });
    expect(seen.arguments.env).toMatchObject({ clean: true, shown: { REGION: 'eu' }, loaders: [] });
    expect(canonicalJson(seen.arguments)).not.toContain('hunter2');
    expect(Object.keys(seen.env)).toEqual(expect.arrayContaining(['PATH', 'REGION', 'SECRET_OF_MINE']));
    expect(Object.keys(seen.env)).not.toEqual(expect.arrayContaining(['BASH_ENV']));
    const whole = await see(['./tool']);
    expect(whole.arguments.env.loaders).toEqual(expect.arrayContaining(['BASH_ENV', 'LD_PRELOAD']));
    expect('ASSENT_TOKEN' in whole.env).toBe(false);
    for (const name of ['ASSENT_TOKEN', 'NOT_SET_AT_ALL'])
      await expect(see(['./tool'], { shownEnv: [name] })).rejects.toMatchObject({ reason: 'usage' });
    expect(
      await change(['./tool'], () => (process.env['REGION'] = 'us'), { shownEnv: ['REGION'] }).catch(() => ['REGION']),
    ).toHaveLength(1);
  } finally {
    for (const name of Object.keys(set)) delete process.env[name];
  }
});

it('refuses what cannot be shown or run, in the words of a shell', async () => {
  writeFileSync('text', 'no program');
  const refusals: [string[], string, string | RegExp][] = [
    [['absent-program'], 'notFound', 'absent-program: command not found'],
    [['./absent'], 'notFound', './absent: command not found'],
    [['cd', '/'], 'notFound', 'cd: command not found'],
    [['./text'], 'cannotRun', /text: it is not executable/],
    [['/tmp'], 'cannotRun', '/tmp: it is a folder'],
    [['./tool', '/dev/fd/63'], 'usage', /a pipe of the shell/],
    [['./tool', 'caf\uFFFD'], 'usage', /not UTF-8/],
  ];
  for (const [argv, reason, message] of refusals)
    await expect(see(argv)).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  await expect(see(['./tool'], { paths: ['absent'] })).rejects.toMatchObject({ code: 'ENOENT' });
});
