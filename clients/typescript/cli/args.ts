import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Failure } from './exit.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What the command line gives to a command. */
export interface Given {
  values: Record<string, string | boolean | string[] | undefined>;
  positionals: string[];
  /** What stands right of the first `--`; undefined without one. */
  command: string[] | undefined;
}

export interface Command {
  /** One line of the list of commands. */
  summary: string;
  /** The words after `assent NAME`. */
  synopsis: string;
  /** What `--help` says below the synopsis. */
  help: string;
  options: Options;
  /** How many words it takes, which the synopsis begins with. */
  words: number;
  /** Whether a command may stand after `--`. */
  takesCommand?: boolean;
  /** Returns the exit status. */
  run: (given: Given) => Promise<number>;
}

const COMMON_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  insecure: { type: 'boolean' },
} as const satisfies Options;

export const COMMON_HELP = `  --url URL         address of the service (ASSENT_URL, or what 'assent login' stored)
  --insecure        allow http to another machine: the token travels in clear
  --json            print for programs
  -h, --help        show this`;

/** Number of edits that make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

/** Returns the known word that was probably meant. */
export const findSimilar = (word: string, known: readonly string[]): string | undefined =>
  known
    .map((each) => ({ each, edits: distance(word, each) }))
    .filter(({ each, edits }) => edits <= 2 && edits < each.length)
    .toSorted((a, b) => a.edits - b.edits)[0]?.each;

/** Returns what parseArgs says about a wrong option, in our words. */
function explainOption(error: unknown, name: string, options: Options): Failure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const option = /'(-[^' ]*)[' ]/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.keys(options).map((each) => `--${each}`);
    const similar = findSimilar(option, known);
    return new Failure(
      'usage',
      `unknown option ${option}`,
      ...(similar ? [`Did you mean ${similar}?`] : []),
      `'assent ${name} --help' lists the options.`,
    );
  }
  // Such as: Option '-m, --comment <value>' argument missing. It is ambiguous where the value looks like an option.
  const first = (message.split('\n')[0] ?? '').replace(
    /^Option '([^']*?)(?: <value>)?' argument (?:missing|is ambiguous).*/,
    '$1 needs a value',
  );
  return new Failure('usage', first, `'assent ${name} --help' lists the options.`);
}

/** Lines that say how a command is called; a hint is one line. */
export const usageOf = (name: string, synopsis: string): string[] => `usage: assent ${name} ${synopsis}`.trimEnd().split('\n');

/**
 * Reads the words after `assent NAME`. Everything right of the first `--` belongs to the command and is not looked at.
 * @throws {Failure} an option is unknown or lacks its value, or there are too few or too many words
 */
export function readArgs(name: string, { options, words, takesCommand, synopsis }: Command, args: string[]): Given {
  const cut = args.indexOf('--');
  const own = cut < 0 ? args : args.slice(0, cut);
  const command = cut < 0 ? undefined : args.slice(cut + 1);
  let parsed: { values: Given['values']; positionals: string[] };
  try {
    parsed = parseArgs({ args: own, options: { ...COMMON_OPTIONS, ...options }, allowPositionals: true }) as typeof parsed;
  } catch (error) {
    throw explainOption(error, name, { ...COMMON_OPTIONS, ...options });
  }
  const { values, positionals } = parsed;
  const usage = usageOf(name, synopsis);
  if (values['help']) return { values, positionals, command };
  if (positionals.length > 0 && takesCommand && command === undefined)
    throw new Failure('usage', `what is to run stands after --, such as: assent ${name} -- ${positionals.join(' ')}`, ...usage);
  if (positionals.length < words) throw new Failure('usage', `${synopsis.split(' ')[0]} is missing`, ...usage);
  if (positionals.length > words) throw new Failure('usage', `unexpected argument ${positionals[words]}`, ...usage);
  if (command !== undefined && !takesCommand) throw new Failure('usage', 'nothing may stand after --', ...usage);
  if (command?.length === 0) throw new Failure('usage', 'no command stands after --', ...usage);
  return { values, positionals, command };
}

export const text = ({ values }: Given, name: string): string | undefined => values[name] as string | undefined;
export const texts = ({ values }: Given, name: string): string[] => (values[name] as string[] | undefined) ?? [];
export const flag = ({ values }: Given, name: string): boolean => values[name] === true;

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** Writes seconds as the options take them, in the largest unit without a rest. */
const writeDuration = (seconds: number): string => {
  const [unit, size] = Object.entries(SECONDS).findLast(([, each]) => seconds % each === 0) as [string, number];
  return `${seconds / size}${unit}`;
};

/**
 * Returns the seconds of a duration such as 90s, 30m, 1h or 7d; undefined if the option was not given.
 * @throws {Failure} it is none, or outside the limits
 */
export function duration(given: Given, name: string, fewest: number, most: number): number | undefined {
  const value = text(given, name);
  if (value === undefined) return undefined;
  const [, number, unit = ''] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  if (number === undefined) throw new Failure('usage', `--${name} is a duration such as 90s, 30m, 1h or 7d, not ${value}`);
  const seconds = Number(number) * (SECONDS[unit] as number);
  if (seconds < fewest || seconds > most)
    throw new Failure('usage', `--${name} is from ${writeDuration(fewest)} to ${writeDuration(most)}, not ${value}`);
  return seconds;
}

/** @throws {Failure} it is no whole number within the limits */
export function integer(given: Given, name: string, fewest: number, most: number): number | undefined {
  const value = text(given, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < fewest || Number(value) > most)
    throw new Failure('usage', `--${name} is a number from ${fewest} to ${most}, not ${value}`);
  return Number(value);
}

/** @throws {Failure} it is none of the values */
export function choice<T extends string>(given: Given, name: string, allowed: readonly T[]): T | undefined {
  const value = text(given, name);
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
  throw new Failure('usage', `--${name} is ${allowed.join(', ')}, not ${value}`);
}
