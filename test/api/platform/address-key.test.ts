import { clientIp } from '../../../api/platform/endpoint/client-ip.js';
import { addressKey } from '../../../api/platform/endpoint/rate-limit.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [null, 'unknown'],
])('%s is counted as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});

it.each([
  ['0 proxies: no header counts', 0, '203.0.113.9', '192.0.2.1'],
  ['1 proxy: what it wrote, not what the client wrote', 1, '10.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['2 proxies: what the outer one wrote', 2, '10.0.0.1, 203.0.113.9, 198.51.100.2', '203.0.113.9'],
  ['2 proxies, one entry', 2, '203.0.113.9', '203.0.113.9'],
  ['no header', 1, undefined, '192.0.2.1'],
  ['a port', 1, '203.0.113.9:40312', '203.0.113.9'],
  ['brackets', 1, '[2001:db8::7]:443', '2001:db8::7'],
  ['no port of IPv6', 1, '2001:db8::7:443', '2001:db8::7:443'],
  ['a word', 1, 'unknown', '192.0.2.1'],
  ['more groups than there are', 1, '1:2:3:4:5:6:7:8::9', '192.0.2.1'],
])('%s', (_what, hops, forwarded, ip) => {
  const request = { headers: forwarded ? { 'x-forwarded-for': forwarded } : {}, socket: { remoteAddress: '192.0.2.1' } };
  expect(clientIp(request as never, hops)).toBe(ip);
});
