#!/usr/bin/env node
import { getVersion } from '../node/version.js';
import { type Command, COMMON_HELP, findSimilar, readArgs, usageOf } from './args.js';
import { askCommand } from './ask.js';
import { approvalsCommand, approveCommand, cancelCommand, rejectCommand, showCommand } from './decide.js';
import { EXIT, Failure, Interrupted, toFailure } from './exit.js';
import { loginCommand, logoutCommand } from './login.js';
import { raise } from './run/execute.js';
import { runOwnCommand } from './run/run.js';
import { print, printError, printNote } from './terminal.js';
import { verifyCommand } from './verify.js';
import { waitCommand } from './wait.js';

const GROUPS: Record<string, Record<string, Command>> = {
  'Ask and run': { run: runOwnCommand, ask: askCommand, wait: waitCommand, cancel: cancelCommand, verify: verifyCommand },
  Decide: { approvals: approvalsCommand, show: showCommand, approve: approveCommand, reject: rejectCommand },
  'Set up': { login: loginCommand, logout: logoutCommand },
};
const COMMANDS = Object.assign({}, ...Object.values(GROUPS)) as Record<string, Command>;

/** Programs of their own, with their own options and exit statuses. */
const PROGRAMS: Record<string, { summary: string; file: string }> = {
  'verify-export': { summary: 'verify an export of the audit log', file: '../verify-export.mjs' },
  runner: { summary: 'run jobs of a team on this machine', file: '../runner/cli.js' },
};

function usage(): string {
  const lines = (entries: [string, { summary: string }][]) =>
    entries.map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`).join('\n');
  const groups = Object.entries(GROUPS).map(([title, commands]) => `${title}:\n${lines(Object.entries(commands))}`);
  return `usage: assent COMMAND [OPTIONS]

A program asks people before it acts, and acts on exactly what they approved.

${groups.join('\n\n')}

Other:
${lines(Object.entries(PROGRAMS))}

ASSENT_URL and ASSENT_TOKEN win over what 'assent login' stored. 'assent help COMMAND' shows the options of a command.`;
}

const helpOf = (name: string, { synopsis, summary, help }: Command): string =>
  `${usageOf(name, synopsis).join('\n')}\n\n${summary[0]?.toUpperCase()}${summary.slice(1)}.\n\n${help}\n\nGeneral:\n${COMMON_HELP}`;

/** @throws {Failure} there is no such command */
function findCommand(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return command;
  const similar = findSimilar(name, [...Object.keys(COMMANDS), ...Object.keys(PROGRAMS)]);
  throw new Failure(
    'usage',
    name.startsWith('-') ? `unknown option ${name}` : `there is no command ${name}`,
    ...(similar ? [`Did you mean ${similar}?`] : []),
    "'assent --help' lists the commands.",
  );
}

/** Shows help on stdout: it was asked for. */
function showHelp(name: string | undefined): number {
  print(name === undefined ? usage() : helpOf(name, findCommand(name)));
  return EXIT.done;
}

async function dispatch([name, ...args]: string[]): Promise<number> {
  if (name === undefined) {
    printNote(`${usage()}\n`);
    return EXIT.usage;
  }
  if (name === '--help' || name === '-h' || name === 'help') return showHelp(name === 'help' ? args[0] : undefined);
  if (name === '--version') {
    print(getVersion());
    return EXIT.done;
  }
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program) return ((await import(program.file)) as { main: (args: string[]) => Promise<number> }).main(args);
  const command = findCommand(name);
  const given = readArgs(name, command, args);
  return given.values['help'] ? showHelp(name) : command.run(given);
}

/** Ends with an error in words, and as a line of JSON for programs that read the others. */
function end(error: unknown, isJson: boolean): number {
  if (error instanceof Interrupted) raise(error.signal);
  const failure = toFailure(error);
  const { reason = 'failed', exit = EXIT.failed, hints = [] } = failure ?? {};
  const message =
    failure?.message ?? `a defect of assent: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  if (isJson) process.stderr.write(`${JSON.stringify({ event: 'error', reason, exit, message, hints })}\n`);
  else printError(message, hints);
  return exit;
}

const args = process.argv.slice(2);
const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
try {
  process.exitCode = await dispatch(args);
} catch (error) {
  process.exitCode = end(error, own.includes('--json'));
}
