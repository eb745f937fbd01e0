import { canonicalJson } from '../../canonical.js';
import { replacePrivate } from '../../node/private-file.js';
import { connect } from '../account.js';
import { type Api, type ChangeRequest, type Redeemed } from '../api.js';
import { type Command, flag, type Given, text } from '../args.js';
import {
  announce,
  ASK_HELP,
  ASK_OPTIONS,
  BIND_HELP,
  BIND_OPTIONS,
  createRequest,
  describeBound,
  describeCommand,
  readBindOptions,
  readClaims,
  readFields,
  shellOperation,
} from '../ask.js';
import { describeOutage, Failure, Interrupted, SIGNAL_BASE } from '../exit.js';
import { openService } from '../service.js';
import { createScreen, formatClock, printable, type Screen } from '../terminal.js';
import { DecisionLog, failureOf, loadNames, waitForDecision } from '../wait.js';
import { type BindOptions, changedSince, differences, look, type Look, type ShellArguments } from './bind.js';
import { type Ended, execute, raise, signalNumber, Signals } from './execute.js';
import { sha256 } from './hash.js';
import { keepStart, sendOutcome } from './outcome.js';
import { ReportFile } from './report.js';
import { notRun, Use } from './use.js';

/** One command, from the first look at what is bound to the report of its outcome. */
interface Run {
  given: Given;
  api: Api;
  screen: Screen;
  signals: Signals;
  options: BindOptions;
  report: ReportFile;
  use: Use;
  /** What the service gets beside the operation. */
  fields: object;
  /** The operation as it was asked for, in the form that is hashed. */
  text: string;
}

const textOf = (given: Given, seen: Look): string => canonicalJson(shellOperation(given, seen));
const hashOf = (operationText: string): string => `sha256:${sha256(`assent.operation.v1\n${operationText}`)}`;

/** Names a few of the things that changed. */
const nameChanges = (names: readonly string[]): string[] => names.slice(0, 10).map((name) => `changed: ${printable(name)}`);

/** Names what differs from a request, which another program may have made in another form. */
function compare(asked: Record<string, unknown>, { arguments: own }: Look): string[] {
  try {
    return differences(asked as unknown as ShellArguments, own);
  } catch {
    return ['the form of the request'];
  }
}

/** Reads a request of an earlier call. @throws {Failure} it has ended, or it is about something else */
async function adopt({ api, text: own }: Run, requestId: string, first: Look): Promise<ChangeRequest> {
  const request = await api.get(requestId);
  const failure = failureOf(request);
  if (failure) throw failure;
  const [operation] = request.operations;
  if (request.operation_hashes.length !== 1 || operation?.system !== 'shell' || operation.name !== 'exec')
    throw new Failure('usage', `request ${requestId} is not about one command`);
  if (request.operation_hashes[0] === hashOf(own)) return request;
  const names = compare(operation.arguments, first);
  const { target } = JSON.parse(own) as { target: string };
  const place = operation.target === target ? [] : [`target is ${target}, and was ${operation.target} (--target)`];
  throw new Failure(
    'changed',
    'this is not what the request is about',
    ...place,
    ...nameChanges(names),
    `The request stays as it is: ${request.url}`,
  );
}

/** Asks for approval. @throws {Failure} the service shows people something else than what we sent */
async function createOwn({ api, given, fields, text: own }: Run): Promise<ChangeRequest> {
  const operation = { ...(JSON.parse(own) as object), ...readClaims(given) };
  const request = await createRequest(api, given, fields, `[${canonicalJson(operation)}]`);
  if (request.operation_hashes[0] !== hashOf(own)) throw new Failure('failed', 'the service did not store what was asked for');
  return request;
}

/** Looks again at everything that is bound. @throws {Failure} something changed; the approval is withdrawn */
async function takeSecondLook({ given, use, options, text: own }: Run, first: Look, request: ChangeRequest): Promise<Look> {
  let names: string[];
  try {
    const seen = await look(options);
    if (textOf(given, seen) === own) return seen;
    await seen.program.handle.close();
    names = differences(first.arguments, seen.arguments);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    names = [error instanceof Error ? error.message : String(error)];
  }
  await use.withdraw(request, `changed: ${names.join(', ')}`.slice(0, 2_000));
  throw new Failure('changed', 'what was approved has changed, so it was not run', ...nameChanges(names));
}

/** Waits for the approval and uses it, with a second look in between. */
async function obtain(
  run: Run,
  first: Look,
  asked: ChangeRequest,
): Promise<{ seen: Look; redeemed: Redeemed; request: ChangeRequest }> {
  const { api, screen, signals } = run;
  const log = new DecisionLog(screen, await loadNames(api, asked.team_id));
  const onInterrupt = text(run.given, 'request') === undefined ? 'Ctrl-C withdraws' : 'Ctrl-C stops waiting';
  for (let request = asked; ; ) {
    log.print(request);
    request = await waitForDecision(api, request, { screen, log, signal: signals.aborted, onInterrupt });
    const failure = failureOf(request);
    if (failure) throw failure;
    const seen = await takeSecondLook(run, first, request);
    const redeemed = await run.use.redeem(request, signals.aborted);
    if (redeemed) return { seen, redeemed, request };
    await seen.program.handle.close();
    request = await api.get(request.request_id);
  }
}

/** @throws {Failure} what may run now is not what was approved */
function checkFit({ text: own, signals }: Run, { operation_texts: texts }: Redeemed, changed: readonly string[]): void {
  if (texts.length !== 1 || texts[0] !== own) throw new Failure('changed', 'another operation was approved, so nothing was run');
  if (changed.length > 0)
    throw new Failure('changed', 'what was approved has changed, so it was not run', ...nameChanges(changed));
  signals.aborted.throwIfAborted();
}

function describeDelivery(delivery: Awaited<ReturnType<typeof sendOutcome>>): string {
  if (delivery.end === 'sent') return 'on record';
  const why = describeOutage(delivery.why);
  return delivery.end === 'kept'
    ? `the service is away (${why}); the next call of assent reports it`
    : `it is not on record: ${why}`;
}

/** Puts the end on record and says so. */
async function conclude({ api, screen, report }: Run, requestId: string, ended: Ended, changed: string[]): Promise<void> {
  const { code, signal, durationMs } = ended;
  const exit_code = code ?? SIGNAL_BASE + signalNumber(signal as NodeJS.Signals);
  const status = code === 0 ? 'succeeded' : 'failed';
  report.update({ reason: 'done', exit_code, signal, duration_ms: durationMs });
  const details = {
    ran: true,
    ...(signal && { signal }),
    ...(changed.length > 0 && { changed_meanwhile: changed.slice(0, 20) }),
  };
  const delivery = await sendOutcome(api, requestId, { status, exit_code, duration_ms: durationMs, details });
  const how = signal === null ? `${status}, exit ${exit_code}` : `ended by ${signal}`;
  screen.say(`${how}, ${formatClock(durationMs)}; ${describeDelivery(delivery)}`, {
    event: 'ended',
    request_id: requestId,
    status,
    exit_code,
    signal,
    duration_ms: durationMs,
    changed_meanwhile: changed,
    record: delivery.end,
  });
  if (changed.length > 0)
    screen.say(`changed while it ran: ${changed.map(printable).join(', ')}`, { event: 'changed_meanwhile', changed });
}

type Obtained = Awaited<ReturnType<typeof obtain>>;

/** Starts the command unless something was touched since the last look, and waits for its end. Without a start, that is on record. */
async function runOnce(run: Run, { seen, redeemed, request: { request_id } }: Obtained): Promise<Ended> {
  const { api, given, options, screen, signals, report } = run;
  const changed: string[] = [];
  try {
    const file = text(given, 'receipt');
    const { receipt, operation_texts, request } = redeemed;
    if (file !== undefined) replacePrivate(file, { receipt, operation_texts, request });
    changed.push(...(await changedSince(seen)));
    checkFit(run, redeemed, changed);
    if (!keepStart(api, request_id))
      screen.say('the start could not be stored: if assent is killed, the outcome stays unknown', { event: 'not_stored' });
    screen.say('started', { event: 'started', request_id });
    report.update({ ran: true });
    return await execute(seen, options.stdin, signals);
  } catch (error) {
    report.update({ ran: false });
    const reason = error instanceof Error ? error.message : String(error);
    await sendOutcome(api, request_id, notRun(reason, changed.length > 0 ? { changed: changed.slice(0, 20) } : {}));
    throw error;
  } finally {
    signals.child = undefined;
  }
}

async function start(run: Run, obtained: Obtained): Promise<number> {
  const ended = await runOnce(run, obtained);
  await conclude(run, obtained.request.request_id, ended, await changedSince(obtained.seen));
  if (ended.signal !== null && ended.signal !== 'SIGKILL') raise(ended.signal);
  return ended.code ?? SIGNAL_BASE + signalNumber('SIGKILL');
}

async function perform(run: Run, first: Look): Promise<number> {
  const { given, screen, signals, report } = run;
  const earlier = text(given, 'request');
  signals.aborted.throwIfAborted();
  const request = earlier === undefined ? await createOwn(run) : await adopt(run, earlier, first);
  report.update({ request_id: request.request_id });
  try {
    if (earlier === undefined) announce(screen, request, describeBound(first.arguments, run.options.argv));
    signals.aborted.throwIfAborted();
    return await start(run, await obtain(run, first, request));
  } catch (error) {
    if (error instanceof Interrupted && earlier === undefined) await run.use.withdraw(request, `withdrawn by ${error.signal}`);
    throw error;
  }
}

/** @throws {Failure} an option says how to ask, and it was asked before */
function refuseAskOptions({ values }: Given): void {
  const asking = Object.keys(ASK_OPTIONS).find((name) => name !== 'target' && values[name] !== undefined);
  if (asking !== undefined) throw new Failure('usage', `--${asking} says how to ask, and with --request that was done before`);
}

async function runCommand(given: Given): Promise<number> {
  if (process.platform === 'win32') throw new Failure('cannotRun', "'assent run' needs Linux or macOS");
  const report = new ReportFile(text(given, 'report'));
  try {
    if (text(given, 'request') !== undefined) refuseAskOptions(given);
    if (given.command === undefined)
      throw new Failure('usage', 'no command stands after --', 'usage: assent run [OPTIONS] -- COMMAND [ARGUMENT…]');
    const file = text(given, 'receipt');
    if (file !== undefined) replacePrivate(file, {});
    const fields = readFields(given, describeCommand(given.command));
    connect(given);
    const options = await readBindOptions(given);
    const first = await look(options);
    await first.program.handle.close();
    const signals = new Signals();
    const screen = createScreen(flag(given, 'json'));
    const api = await openService(given, screen);
    const use = new Use(api, screen);
    return await perform({ given, api, screen, signals, options, report, use, fields, text: textOf(given, first) }, first);
  } catch (error) {
    report.fail(error);
    throw error;
  }
}

export const runOwnCommand: Command = {
  summary: 'ask for approval of a command, wait, and run it',
  synopsis: '[OPTIONS] -- COMMAND [ARGUMENT…]',
  words: 0,
  takesCommand: true,
  options: {
    ...ASK_OPTIONS,
    ...BIND_OPTIONS,
    request: { type: 'string' },
    report: { type: 'string' },
    receipt: { type: 'string' },
  },
  help: `After the approval it looks again at everything that is bound, and only then runs the command. A user who has this shell
can leave assent out: where it must hold, keep the credential behind something that checks a receipt.

${ASK_HELP}

${BIND_HELP}

Run:
  --request ID          do not ask: run what 'assent ask' asked for, if all that is bound agrees
  --report FILE         write {ran, reason, request_id, exit_code, signal, duration_ms}
  --receipt FILE        store the signed receipt with its operation for 'assent verify'

Exit status: that of the command, or 128 + n if a signal ended it. If it did not run: 64 usage, 65 something bound has changed,
69 the service is away, 75 not decided or not used in time, 77 rejected or cancelled, 78 not logged in, 125 a defect of assent,
126 cannot be run, 127 not found; 128 + n if a signal ended the wait. Standard output is that of the command alone.`,
  run: runCommand,
};
