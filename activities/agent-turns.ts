import { activityInfo } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { beginTurn } from '../api/agent/providers/steps/begin-turn.js';
import { finishTurn } from '../api/agent/providers/steps/finish-turn.js';
import { answerByRules } from '../api/agent/turns/answer-by-rules.js';
import type { TurnExecution } from '../api/agent/turns/claim-turn.js';
import type { TurnStep } from '../api/agent/automation/step-of-turn.sql.js';
import { openTurnsStatement, restartTurnStatement, turnDispatchesStatement } from '../api/agent/turns/open-turns.sql.js';
import type { Services } from '../api/core/context.js';
import { NO_ID } from '../api/core/fields.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { run } from '../db/statement.js';
import {
  AGENT_TURN,
  type AgentTurnInput,
  taskQueue,
  TURN_SIGNALS,
  type TurnActivities,
  type TurnRef,
  turnWorkflowId,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { each } from './worker/each.js';
import { isWorkflowOpen, listOpenWorkflows, SETTLED_AFTER_MS } from './worker/open-workflows.js';

/** Returns the turn with the execution of this activity, as its row stores it. */
const executionOf = (turn: TurnRef): TurnExecution => ({ ...turn, execution: activityInfo().workflowExecution?.runId ?? 'none' });

/** Activities of a turn that ask no model. They run at least once, so the operations may be repeated. */
export const turnActivities = (
  services: Services,
): Pick<TurnActivities, 'answerByRules' | 'beginTurn'> & Record<string, unknown> => ({
  answerByRules: (turn: TurnRef) => answerByRules(services, executionOf(turn)),
  beginTurn: (turn: TurnRef) => beginTurn(services, executionOf(turn), answerByRules),
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

/** Open turns that one pass of the reconciler reads at once. */
const PAGE_SIZE = 1_000;

const attributesOf = (row: Row): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'agent_turn' },
  { key: ATTRIBUTE.TriggerType, value: row.session_kind === 'automation' ? 'event' : 'chat' },
  { key: ATTRIBUTE.EntityId, value: row.session_id },
  { key: ATTRIBUTE.ActorId, value: row.user_id },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  ...(row.team_id ? [{ key: ATTRIBUTE.TeamId, value: row.team_id }] : []),
];

const detailsOf = (row: Row): string =>
  [
    `- Message \`${row.message_id}\` of session \`${row.session_id}\``,
    ...(row.session_kind === 'automation' ? [`- Asked by the step \`${row.subject_key}\`: its run waits for the answer`] : []),
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/**
 * Ends a turn whose workflow cannot be started: the person reads that it failed, and the next message of the session goes on. Does nothing
 * if an execution has begun it.
 */
async function failStart({ message_id: messageId, started_as: incarnation }: Row, services: Services): Promise<void> {
  await finishTurn(services, { messageId, incarnation, execution: 'none' }, 'internal');
}

/** Starts the workflows of turns and wakes them. May be repeated by several workers at once: the rows decide. */
export class TurnDispatcher implements Dispatcher<Row> {
  readonly kinds = ['turn.start', 'turn.wake'];
  readonly details = turnDispatchesStatement;
  readonly abandon: NonNullable<Dispatcher<Row>['abandon']>;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean; eager: boolean; giveUpHours: number },
  ) {
    this.abandon = { kind: 'turn.start', afterHours: options.giveUpHours, run: failStart };
  }

  async dispatch(row: Row, services: Services): Promise<void> {
    await logScope.run({ correlation_id: row.correlation_id }, () =>
      row.kind === 'turn.start' ? this.start(row, services) : this.wake(row, services),
    );
  }

  /** A start of another incarnation than the row's, or of a turn that has ended, does nothing. */
  private async start(row: Row, services: Services): Promise<void> {
    if (row.is_ended || row.started_as !== row.incarnation) return;
    if (!(await this.tryStart(row))) await this.recover(row, services);
  }

  /** A stopped turn, or that of a run that has ended, cancels its call of the model; any other reads its row again. */
  private async wake(row: Row, services: Services): Promise<void> {
    const isStopped = row.is_ended || row.step?.is_open === false;
    const isFound = await this.signal(row.message_id, isStopped ? 'stop' : 'wake');
    // Without a claim, its start is still in the outbox, or the reconciler finds it.
    if (!isFound && !row.is_ended && row.claimed_by !== null) await this.recover(row, services);
  }

  /** Restarts an open turn whose execution is lost. Returns false if an execution is open, which is woken, or another worker was first. */
  private async recover(turn: OpenTurn, services: Services): Promise<boolean> {
    if (await this.signal(turn.message_id, 'wake')) return false;
    const { message_id, incarnation } = turn;
    if ((await run(services.db, restartTurnStatement, [message_id, incarnation])).length === 0) return false;
    services.log.warn({ message_id, incarnation }, 'a turn without a workflow was restarted');
    services.notifyRelay();
    return true;
  }

  /** Returns false if no execution is open. */
  private async signal(messageId: string, signal: keyof typeof TURN_SIGNALS): Promise<boolean> {
    try {
      await this.client.workflow.getHandle(turnWorkflowId(messageId)).signal(TURN_SIGNALS[signal]);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Returns false if the workflow is open, or closed and not restartable. */
  private async tryStart(row: Row): Promise<boolean> {
    const { taskQueuePrefix, searchable, eager } = this.options;
    const mode = row.provider === 'rules' ? 'rules' : 'model';
    const { message_id: messageId, incarnation } = row;
    const input: AgentTurnInput = { messageId, incarnation, mode, ...(searchable ? {} : { searchable: false }) };
    try {
      await this.client.workflow.start(AGENT_TURN, {
        workflowId: turnWorkflowId(messageId),
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [input],
        workflowIdReusePolicy: incarnation > 1 ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        requestEagerStart: eager,
        staticSummary:
          mode === 'rules' ? 'Message to the agent, answered by rules' : `Message to the agent, answered by ${row.provider}`,
        staticDetails: detailsOf(row),
        // Inherited by its activities: a team that talks much does not delay the others.
        priority: { fairnessKey: row.team_id ?? row.user_id },
        ...(searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
      });
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  /**
   * Restarts every open turn that has no workflow, after a lost store or a terminated workflow, and wakes the workflows of turns that have
   * ended or are gone. Returns the number restarted.
   */
  async reconcile(services: Services): Promise<number> {
    const queue = taskQueue(this.options.taskQueuePrefix, 'core');
    const listed = await listOpenWorkflows(this.client, AGENT_TURN, queue);
    let restarted = 0;
    for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
      const turns = await run<OpenTurn & Record<string, unknown>>(services.db, openTurnsStatement, [after, PAGE_SIZE]);
      await each(turns, async (turn) => {
        const id = turnWorkflowId(turn.message_id);
        const isListed = listed.delete(id);
        // The list may be behind; only a workflow that is asked for itself is missed.
        if (isListed || (await isWorkflowOpen(this.client, id))) return;
        if (await this.recover(turn, services)) restarted += 1;
      });
      after = turns.at(-1)?.message_id ?? after;
      size = turns.length;
    }
    for (const { workflowId, startTime } of listed.values()) {
      const isSettled = Date.now() - startTime.getTime() > SETTLED_AFTER_MS;
      if (isSettled) await this.signal(workflowId.slice(turnWorkflowId('').length), 'wake');
    }
    return restarted;
  }
}
