import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const { KEYWORD, DATETIME, INT, BOOL } = SearchAttributeType;

/**
 * By what an operator finds a run in the Temporal UI. Registered at the worker's start, in this order; nothing functional may
 * depend on them (durability notes, 2). Ids and states only: they are plain text to whoever may open the UI.
 */
export const SEARCH_ATTRIBUTES = {
  TeamId: defineSearchAttributeKey('TeamId', KEYWORD),
  ProjectId: defineSearchAttributeKey('ProjectId', KEYWORD),
  AutomationId: defineSearchAttributeKey('AutomationId', KEYWORD),
  ActorId: defineSearchAttributeKey('ActorId', KEYWORD),
  Process: defineSearchAttributeKey('Process', KEYWORD),
  /**
   * What Temporal's own status does not say: paused, waiting, failed, rejected ... Empty while a run simply runs and when it simply
   * succeeded, because each update is a write to Temporal's store: a tenth of what a short run costs there.
   */
  RunState: defineSearchAttributeKey('RunState', KEYWORD),
  GateState: defineSearchAttributeKey('GateState', KEYWORD),
  TriggerType: defineSearchAttributeKey('TriggerType', KEYWORD),
  CorrelationId: defineSearchAttributeKey('CorrelationId', KEYWORD),
  EntityId: defineSearchAttributeKey('EntityId', KEYWORD),
  GateExpiresAt: defineSearchAttributeKey('GateExpiresAt', DATETIME),
  NextAttemptAt: defineSearchAttributeKey('NextAttemptAt', DATETIME),
  Attempt: defineSearchAttributeKey('Attempt', INT),
  Depth: defineSearchAttributeKey('Depth', INT),
  IsTest: defineSearchAttributeKey('IsTest', BOOL),
};
