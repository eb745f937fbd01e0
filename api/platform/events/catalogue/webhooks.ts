import { stored } from '../declare.js';
import { TEAM, Webhook } from './shapes.js';

const ENDPOINT = {
  webhook_id: '0197a000-0000-7000-8000-000000000012',
  team_id: TEAM,
  host: 'hooks.example.com',
  description: 'Chat of the team',
  disabled_reason: 'failing',
};

export const webhookEvents = {
  'webhook.disabled': stored({
    payload: { webhook: Webhook },
    past: 'Another endpoint of the team was disabled',
    webhook: true,
    sample: { project_id: null, actor_id: null, webhook: ENDPOINT },
  }),
};
