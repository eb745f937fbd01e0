import type { EventType } from '../events/event-types.js';
import type { AuditAction } from './audit-actions.js';
import type { EntityType, Feature } from './change-kinds.js';

interface Kind {
  feature: Feature;
  action: AuditAction;
  entityType: EntityType;
}

/** Writes the kind of a change as arguments of the SQL function `make_change`, so that a misspelled name does not compile. */
export const kindOfChange = ({ feature, action, entityType }: Kind): string =>
  `feature => '${feature}', action => '${action}', entity_type => '${entityType}'`;

/** Writes an event type as SQL text. */
export const eventType = (type: EventType): string => `'${type}'`;
