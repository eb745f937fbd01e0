import { KEY_GROUPS } from '../../navigation/keys.js';
import { page, type Page } from '../../page.js';

export const keyPages: Page[] = [
  page({
    method: 'get',
    path: '/app/keys',
    access: 'account.read',
    handle: () => Promise.resolve({ view: 'account/keys', title: 'Keys', data: { groups: KEY_GROUPS } }),
  }),
];
