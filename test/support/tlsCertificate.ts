/** A certificate for 127.0.0.1, valid until 2120, that nobody trusts unless a test does. Its key protects nothing. */
import { getCACertificates, setDefaultCACertificates } from "node:tls"

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoUQmLq+xgnppaawr
B2ZYCkHR2xfH/J0WRQNes3E7zxyhRANCAASrxKheN1e09vYx8UCJ1tiN1+HH4/ri
vvqaAoDW4njGAgQi6ZQiergblw5sTXPEqT6qrQbDaBNxr8BRF9tIhKjB
-----END PRIVATE KEY-----`

export const cert = `-----BEGIN CERTIFICATE-----
MIIBeTCCASCgAwIBAgIUHElgK+QL63QQUBDHFFvuk3qOzdkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASrxKheN1e09vYx8UCJ1tiN1+HH4/rivvqaAoDW4njGAgQi6ZQiergb
lw5sTXPEqT6qrQbDaBNxr8BRF9tIhKjBo04wTDAPBgNVHRMBAf8EBTADAQH/MBoG
A1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUNXwaJMZpXlQyT71r
mrjfctgY+yAwCgYIKoZIzj0EAwIDRwAwRAIgD2vOz5WZKWFJirY8ikzNlAtobxym
UGqZEQbLeRzixacCIFxV/e4B/S6CeXTAxP93HxZ6HUmmwrpqx1pi62MZ39PD
-----END CERTIFICATE-----`

/** Makes the clients of this process trust it from now on. */
export const trust = (): void => setDefaultCACertificates([...getCACertificates("default"), cert])
