import { type Command, duration, integer, readArgs } from '../../clients/typescript/cli/args.js';
import { describeCommand } from '../../clients/typescript/cli/ask.js';
import { formatClock, formatSize, formatSpan, printable } from '../../clients/typescript/cli/terminal.js';

// The words of a command line, and how texts of others look on a terminal.

const command: Command = {
  summary: '',
  synopsis: 'ID',
  help: '',
  words: 0,
  takesCommand: true,
  options: {
    reason: { type: 'string' },
    expires: { type: 'string' },
    approvals: { type: 'string' },
    comment: { type: 'string', short: 'm' },
  },
  run: async () => 0,
};
const read = (...args: string[]) => readArgs('run', command, args);
const reading = (...args: string[]) => {
  try {
    return read(...args);
  } catch (error) {
    return error as Error;
  }
};

it('leaves everything right of the first -- to the command', () => {
  const given = read('--reason', 'x', '--', 'sh', '-c', 'a', '--', '--help', '-m');
  expect(given).toMatchObject({ values: { reason: 'x' }, positionals: [], command: ['sh', '-c', 'a', '--', '--help', '-m'] });
  expect(read('--json').command).toBeUndefined();
});

it('says what is wrong with a command line, and what was probably meant', () => {
  const wrong: [string[], RegExp, RegExp][] = [
    [['--reson', 'x'], /^unknown option --reson$/, /Did you mean --reason/],
    [['--zzzzzzz'], /^unknown option --zzzzzzz$/, /assent run --help/],
    [['--reason'], /^--reason <value>|--reason needs a value/, /assent run --help/],
    [['--expires', '-1h'], /^--expires needs a value$/, /assent run --help/],
    [['-m'], /--comment needs a value/, /assent run --help/],
    [['terraform', 'apply'], /stands after --, such as: assent run -- terraform apply/, /usage: assent run ID/],
    [['--'], /no command stands after --/, /usage/],
  ];
  for (const [args, message, hint] of wrong) {
    const error = reading(...args) as Error & { hints: string[]; exit: number };
    expect([args, error.exit, error.message]).toEqual([args, 64, expect.stringMatching(message)]);
    expect(error.hints.join(' ')).toMatch(hint);
  }
  const one = { ...command, words: 1, takesCommand: false };
  expect(() => readArgs('show', one, [])).toThrow('ID is missing');
  expect(() => readArgs('show', one, ['a', 'b'])).toThrow('unexpected argument b');
  expect(() => readArgs('show', one, ['a', '--', 'b'])).toThrow('nothing may stand after --');
});

it('reads durations and numbers within their limits', () => {
  const seconds = (value: string) => duration(read('--expires', value), 'expires', 60, 2_592_000);
  expect(['60s', '90s', '30m', '1h', '30d'].map(seconds)).toEqual([60, 90, 1_800, 3_600, 2_592_000]);
  for (const value of ['1', 'h', '59s', '31d', '1h30m', '1.5h', '99999999s', ''])
    expect(() => seconds(value)).toThrow(/--expires is (a duration such as 90s|from 1m to 30d, not)/);
  expect(duration(read(), 'expires', 1, 2)).toBeUndefined();
  expect(integer(read('--approvals', '5'), 'approvals', 1, 5)).toBe(5);
  for (const value of ['0', '6', '1.0', '0x1', ''])
    expect(() => integer(read('--approvals', value), 'approvals', 1, 5)).toThrow();
});

it('draws nothing of others on the terminal', () => {
  expect(printable('a\x1b[2Jb\r\n\u202Ec\u200Bd\u{E0041}é')).toBe('aU+001B[2JbU+000DU+000AU+202EcU+200BdU+E0041é');
  expect(describeCommand(['sh', '-c', "echo 'x'\n", ''])).toBe(String.raw`sh -c 'echo '\''x'\''U+000A' ''`);
  expect(describeCommand(['a', 'b'.repeat(300)])).toHaveLength(200);
});

it('shows times and sizes', () => {
  expect([0, 42_000, 3_599_999, 86_358_000, -5].map(formatClock)).toEqual(['0:00', '0:42', '59:59', '23:59:18', '0:00']);
  expect([0, 42_000, 90_000, 7_200_000, 200_000_000].map(formatSpan)).toEqual(['0 s', '42 s', '1 min', '2 h', '2 d']);
  expect([0, 999, 18_123, 4_200_000].map(formatSize)).toEqual(['0 B', '999 B', '18 kB', '4.2 MB']);
});
