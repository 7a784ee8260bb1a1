/** Whether the host of a URL is this machine: there alone a provider may speak http. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
