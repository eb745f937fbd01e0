/** Notes and a doc of the demo team, as an avionics team would keep them. */

export const RELEASE_MINUTES = `# Release meeting, Monday

- The filter stays as it is until the static fire. Tina replays one more night of telemetry.
- **Freeze on Thursday.** What is not merged by noon waits for 1.5.
- Max asks the pad crew for the slot on the 14th.
`;

export const TELEMETRY_IDEA = `Could the ground station show the filter's residuals live?

Today we see a drift only in the replay, hours after the test.
`;

export const PRESSURE_LOG = `time_s,chamber_pressure_bar,residual
0,1.0,0.00
1,54.2,0.31
2,96.8,0.12
3,97.1,0.04
4,97.0,0.03
`;

export const LAUNCH_PLAN = `# Launch plan for guidance 1.4

## Before the static fire
1. Freeze the star catalogue.
2. Replay last year's telemetry.
3. A manager approves the deployment.

## On the day
| time | step | who |
|---|---|---|
| T-120 min | power up, self test | Uma |
| T-30 min | last go or no-go | Max |
| T-0 | hands off | |
`;
