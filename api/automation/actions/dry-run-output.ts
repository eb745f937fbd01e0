/** Builds the output of an action in a test run: what it would have done. `params` are rendered and complete. */
export const dryRunOutput = (label: string, params: unknown): Record<string, unknown> => ({
  simulated: true,
  would: label,
  params,
});
