import { activityInfo } from '@temporalio/activity';
import { beginTurn } from '../api/agent/providers/steps/begin-turn.js';
import { finishTurn } from '../api/agent/providers/steps/finish-turn.js';
import type { TurnStep } from '../api/agent/run-steps/step-of-turn.sql.js';
import { answerByRules } from '../api/agent/turns/answer-by-rules.js';
import type { TurnExecution } from '../api/agent/turns/claim-turn.js';
import { openTurnsStatement, restartTurnStatement, turnDispatchesStatement } from '../api/agent/turns/open-turns.sql.js';
import type { Services } from '../api/platform/context.js';
import { run } from '../db/statement.js';
import {
  AGENT_TURN,
  type AgentTurnInput,
  TURN_SIGNALS,
  type TurnActivities,
  type TurnRef,
  turnWorkflowId,
} from '../workflows/contracts/turn-contract.js';
import { modelStepActivities, modelTurnActivities } from './model-turns.js';
import { defineRowWorkflow } from './row-workflow.js';
import type { RowLink } from './worker/reconcile-rows.js';

/** Returns the turn with the execution of this activity, as its row stores it. */
const getExecution = (turn: TurnRef): TurnExecution => ({
  ...turn,
  execution: activityInfo().workflowExecution?.runId ?? 'none',
});

/** Activities of a turn that call no other server. They run at least once, so the operations may be repeated. */
const coreActivities = (services: Services): Omit<TurnActivities, 'modelStep'> => ({
  answerByRules: (turn) => answerByRules(services, getExecution(turn)),
  beginTurn: (turn) => beginTurn(services, getExecution(turn), answerByRules),
  ...modelTurnActivities(services),
});

/** An outbox row that starts or wakes a turn. */
interface Row {
  outbox_id: number;
  kind: 'turn.start' | 'turn.wake';
  correlation_id: string;
  /** Incarnation of the start. */
  started_as: number;
  message_id: string;
  session_id: string;
  user_id: string;
  team_id: string | null;
  provider: string;
  incarnation: number;
  claimed_by: string | null;
  is_ended: boolean;
  /** Kind of the session; `automation` for the step of a run, which the subject key names. */
  session_kind: string;
  subject_key: string | null;
  /** The step of a run that asked; null for the turn of a person. */
  step: TurnStep | null;
}

type OpenTurn = Pick<Row, 'message_id' | 'incarnation' | 'claimed_by'>;

const getMode = ({ provider }: Row): AgentTurnInput['mode'] => (provider === 'rules' ? 'rules' : 'model');

/** A start of another incarnation than the row's, or of a turn that has ended, does nothing. */
async function startTurn(row: Row, link: RowLink<Row>, services: Services): Promise<void> {
  if (row.is_ended || row.started_as !== row.incarnation) return;
  if (!(await link.start(row, services))) await recoverTurn(row, link, services);
}

/** A stopped turn, or that of a run that has ended, cancels its call of the model; any other reads its row again. */
async function wakeTurn(row: Row, link: RowLink<Row>, services: Services): Promise<void> {
  const isStopped = row.is_ended || row.step?.is_open === false;
  const isFound = await link.signal(turnWorkflowId(row.message_id), { signal: TURN_SIGNALS[isStopped ? 'stop' : 'wake'] });
  // Without a claim, its start is still in the outbox, or the reconciler finds it.
  if (!isFound && !row.is_ended && row.claimed_by !== null) await recoverTurn(row, link, services);
}

/** Restarts an open turn whose execution is lost. Returns false if an execution is open, which is woken, or another worker was first. */
async function recoverTurn({ message_id, incarnation }: OpenTurn, link: RowLink<Row>, services: Services): Promise<boolean> {
  if (await link.signal(turnWorkflowId(message_id), { signal: TURN_SIGNALS.wake })) return false;
  if ((await run(services.db, restartTurnStatement, [message_id, incarnation])).length === 0) return false;
  services.log.warn({ message_id, incarnation }, 'a turn without a workflow was restarted');
  services.notifyRelay();
  return true;
}

/** Turns of the agent: an execution claims its turn under an incarnation, so a restart is a compare-and-set of its own. */
export const agentTurns = defineRowWorkflow<Row, OpenTurn>({
  notes: [{ process: 'agent_turn', workflowId: 'turn:<message_id>', shows: 'Messages to the agent that have no answer yet' }],
  invariants: [
    {
      name: 'turns_carried',
      words: 'No turn has been open for more than 60 s without an open workflow',
      sql: /* sql */ `
        select message_id::text as violation from agent_turns
        where finished_at is null and created_at < clock_timestamp() - interval '60 seconds' order by created_at`,
      buildWorkflowId: turnWorkflowId,
    },
  ],
  activities: { core: coreActivities, outbound: modelStepActivities },
  plural: 'turns',
  kinds: ['turn.start', 'turn.wake'],
  dispatches: turnDispatchesStatement,
  /**
   * Ends a turn whose workflow cannot be started: the person reads that it failed, and the next message of the session goes on. Does nothing if an
   * execution has begun it.
   */
  abandon: {
    kind: 'turn.start',
    async run({ message_id, started_as }, services) {
      await finishTurn(services, { messageId: message_id, incarnation: started_as, execution: 'none' }, 'internal');
    },
  },
  workflow: AGENT_TURN,
  getId: ({ message_id }) => turnWorkflowId(message_id),
  input: (row): AgentTurnInput => ({ messageId: row.message_id, incarnation: row.incarnation, mode: getMode(row) }),
  attributes: (row) => ({
    TriggerType: row.session_kind === 'automation' ? 'event' : 'chat',
    EntityId: row.session_id,
    ActorId: row.user_id,
    TeamId: row.team_id,
  }),
  summary: ({ provider }) => `Message to the agent, answered by ${provider}`,
  details: ({ message_id, session_id, session_kind, subject_key }) => [
    `Message \`${message_id}\` of session \`${session_id}\``,
    ...(session_kind === 'automation' ? [`Asked by the step \`${subject_key}\`: its run waits for the answer`] : []),
  ],
  // A team that talks much does not delay the others.
  fairnessKey: ({ team_id, user_id }) => team_id ?? user_id,
  startOptions: ({ incarnation }, { eager }) => ({
    workflowIdReusePolicy: incarnation > 1 ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    requestEagerStart: eager,
  }),
  dispatch: (row, link, services) => (row.kind === 'turn.start' ? startTurn : wakeTurn)(row, link, services),
  wake: { signal: TURN_SIGNALS.wake },
  key: 'message_id',
  open: openTurnsStatement,
  restart: recoverTurn,
});
