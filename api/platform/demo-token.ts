/** Token of the demo user Ada: public on purpose, created in development only, rejected in production. */
export const DEMO_TOKEN = 'svc_pat_demo-token-of-ada-on-this-machine-only-0000';
