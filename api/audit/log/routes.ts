import { AUDIT_ACTIONS } from '../../platform/changes/audit-actions.js';
import { FEATURES, SEVERITIES } from '../../platform/changes/change-kinds.js';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { correlate } from './correlate.js';
import { exportEntries } from './export-entries.js';
import { getEntry } from './get-entry.js';
import { listEntries } from './list-entries.js';
import { readStats } from './read-stats.js';
import {
  AuditEntry,
  AuditExport,
  AuditPage,
  AuditStats,
  AuditTrail,
  AuditVocabulary,
  CorrelationParams,
  EntryParams,
  ExportEntries,
  ListEntries,
  ReadStats,
} from './schema.js';

/** No narrower scope covers the log. */
const read = { tag: 'Audit', ability: 'audit.read', scope: 'admin:*' } as const;

export const auditRoutes: Endpoint[] = [
  endpoint({
    id: 'listAuditFeatures',
    method: 'get',
    path: '/api/audit/features',
    tag: 'Audit',
    summary: 'List the words of the audit log',
    ability: 'audit.vocabulary',
    response: AuditVocabulary,
    handle: async () => ({ features: [...FEATURES], actions: AUDIT_ACTIONS, severities: [...SEVERITIES] }),
  }),
  endpoint({
    ...read,
    id: 'listAuditEntries',
    method: 'get',
    path: '/api/audit/logs',
    summary: 'List audit entries',
    description:
      'Newest first, of all teams that you administer and whose plan includes the log. Filters are combined with AND. `total` is exact up to 10000; with more entries `total_capped` is true, and `offset` is at most 10000: narrow the list with `to_time`.',
    query: ListEntries,
    response: AuditPage,
    capped: true,
    pages: { cut: true },
    handle: ({ ctx, query }) => listEntries(ctx, query),
  }),
  endpoint({
    ...read,
    id: 'getAuditEntry',
    method: 'get',
    path: '/api/audit/logs/:audit_id',
    summary: 'Get an audit entry',
    params: EntryParams,
    response: AuditEntry,
    errors: [404],
    handle: ({ ctx, params }) => getEntry(ctx, params.audit_id),
  }),
  endpoint({
    ...read,
    id: 'correlateAuditEntries',
    method: 'get',
    path: '/api/audit/correlate/:correlation_id',
    summary: 'List the audit entries of one request',
    description: 'Oldest first, at most 10,000 and 10 MB. An id that is unknown or of another team gives an empty list.',
    params: CorrelationParams,
    response: AuditTrail,
    capped: true,
    handle: ({ ctx, params }) => correlate(ctx, params.correlation_id),
  }),
  endpoint({
    ...read,
    id: 'exportAuditEntries',
    method: 'post',
    path: '/api/audit/export',
    summary: 'Export audit entries',
    description:
      'The newest 10000 matching entries. A HIGH entry in the log of each exported team records the export first. `chain` and `proof` let anybody verify the export without access to this service.',
    body: ExportEntries,
    response: AuditExport,
    // What the caller may read now must not be repeated later.
    storable: false,
    example: { format: 'json', from_time: '2026-11-01', severity: 'HIGH' },
    handle: ({ ctx, body }) => exportEntries(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getAuditStats',
    method: 'get',
    path: '/api/audit/stats',
    summary: 'Count audit entries',
    description: 'Of the last days, in one team or in all that you administer and whose plan includes the log.',
    query: ReadStats,
    response: AuditStats,
    handle: ({ ctx, query }) => readStats(ctx, query),
  }),
];
