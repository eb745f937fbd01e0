/** Ada's token of the demo data: published on purpose, made in development only, refused in production (N4). */
export const DEMO_TOKEN = 'svc_pat_demo-token-of-ada-on-this-machine-only-0000';
