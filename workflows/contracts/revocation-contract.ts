/** Names and shapes of the revocation of tokens at a provider. */

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Revoke the tokens of a deleted connection at its provider. */
    'integration.revoke': { revocation_id: string };
  }
}

/** Workflow type that revokes the tokens of a deleted connection. */
export const CONNECTION_REVOCATION = 'connectionRevocation';
export const revocationWorkflowId = (revocationId: string): string => `revoke:${revocationId}`;
export interface RevocationActivities {
  /** Returns the outcome; retried until the service is reached. */
  revokeConnection(revocationId: string): Promise<string>;
}
