import { createProxyServer } from 'httpxy';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

const proxy = createProxyServer({
  target: options.upstream,
  ignorePath: true,
  headers: { authorization: AUTHORIZATION },
});
serve((request, response) => {
  proxy.web(request, response).catch(() => response.destroy());
});
