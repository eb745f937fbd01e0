import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const { KEYWORD, DATETIME, INT, BOOL } = SearchAttributeType;

/**
 * Search attributes of runs in the Temporal UI. Registered in this order when the worker starts; no function may depend on them.
 * Ids and states only: they are readable to everyone who may open the UI (docs/decisions/automation.md#search-attributes).
 */
export const SEARCH_ATTRIBUTES = {
  TeamId: defineSearchAttributeKey('TeamId', KEYWORD),
  ProjectId: defineSearchAttributeKey('ProjectId', KEYWORD),
  AutomationId: defineSearchAttributeKey('AutomationId', KEYWORD),
  ActorId: defineSearchAttributeKey('ActorId', KEYWORD),
  Process: defineSearchAttributeKey('Process', KEYWORD),
  /**
   * What Temporal's own status does not show: paused, waiting, succeeded, failed, skipped, applied ... Empty while a run is running, because
   * each update costs a tenth of a short run's writes to Temporal's store.
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
