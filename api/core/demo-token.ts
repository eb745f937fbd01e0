/** Ada's token of the demo data: published on purpose, made in development only, refused in production (N4). */
export const DEMO_TOKEN = 'svc_pat_assent-demo-token-for-this-machine-only-000';
