/** Names and shapes shared by the API, the worker and the workflows: imports neither Temporal nor code that waits. */

export * from './contracts/bulk-contract.js';
export * from './contracts/cycle-contract.js';
export * from './contracts/deprovision-contract.js';
export * from './contracts/maintenance-contract.js';
export * from './contracts/plan-contract.js';
export * from './contracts/queues.js';
export * from './contracts/revocation-contract.js';
export * from './contracts/run-contract.js';
export * from './contracts/runner-contract.js';
export * from './contracts/series-contract.js';
export * from './contracts/triage-contract.js';
export * from './contracts/turn-contract.js';
