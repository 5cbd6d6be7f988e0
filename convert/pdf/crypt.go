package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format's own
	"crypto/rc4" //nolint:gosec // the format's own
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"slices"
)

// crypt decrypts a file that is encrypted with the empty user password, which viewers open without asking (§7.6, and
// ISO 32000-2 §7.6.4 for AES-256). MD5 and RC4 are what the format asks for: here they guard nothing, they only make
// readable what every viewer shows.
type crypt struct {
	key    []byte
	aes    bool
	direct bool // the file's key is every object's
	none   bool // streams and strings are not encrypted after all
	plain  int  // number of the encryption dictionary, which is not encrypted
}

// padding completes short passwords (algorithm 2).
var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// newCrypt returns the decryption that an encryption dictionary asks for. It returns nil if a password is needed or the
// method is unknown. A file may name a method that encrypts nothing; its streams and strings are left as they are.
func newCrypt(r *pdfReader, d dict) *crypt {
	if f := r.name(d["Filter"]); f != "Standard" {
		return nil
	}
	version, revision := int(r.number(d["V"])), int(r.number(d["R"]))
	owner, _ := r.resolve(d["O"]).(string)
	user, _ := r.resolve(d["U"]).(string)
	c := &crypt{}
	if version >= 4 {
		filters := r.dict(d["CF"])
		switch method := r.name(r.dict(filters[r.name(d["StmF"])])["CFM"]); method {
		case "AESV2", "AESV3":
			c.aes = true
		case "V2":
		default:
			c.none = true
		}
	}
	switch {
	// AES-256: the entry U has a hash of the password, and two salts. One checks the empty password, the other gives the
	// key that decrypts the file's key in UE.
	case version == 5 && (revision == 5 || revision == 6):
		entry, _ := r.resolve(d["UE"]).(string)
		if len(user) < 48 || len(entry) < 32 {
			return nil
		}
		hash := func(salt string) []byte {
			if revision == 5 {
				sum := sha256.Sum256([]byte(salt))
				return sum[:]
			}
			return hardenedHash([]byte(salt))
		}
		if !bytes.Equal(hash(user[32:40]), []byte(user[:32])) {
			return nil
		}
		block, err := aes.NewCipher(hash(user[40:48]))
		if err != nil {
			return nil
		}
		c.key = make([]byte, 32)
		cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(c.key, []byte(entry[:32]))
		c.direct = true
		return c
	case version < 1 || version > 4 || revision < 2 || revision > 4 || len(owner) < 32 || len(user) < 16:
		return nil
	}
	// Older methods: the key is a hash of the padded empty password, the owner's entry, the permissions and the file's id
	// (algorithm 2).
	size := int(r.number(d["Length"])) / 8
	if version == 4 {
		size = 16
	}
	if version == 1 || size < 5 || size > 16 {
		size = 5
	}
	sum := md5.New() //nolint:gosec // as above
	sum.Write(padding)
	sum.Write([]byte(owner[:32]))
	sum.Write(binary.LittleEndian.AppendUint32(nil, uint32(int64(r.number(d["P"]))))) //nolint:gosec // its bits are wanted
	if ids, ok := r.resolve(r.trailer["ID"]).([]any); ok && len(ids) > 0 {
		id, _ := r.resolve(ids[0]).(string)
		sum.Write([]byte(id))
	}
	if encrypted, isBool := r.resolve(d["EncryptMetadata"]).(bool); isBool && !encrypted && revision >= 4 {
		sum.Write([]byte("\xff\xff\xff\xff"))
	}
	key := sum.Sum(nil)
	if revision >= 3 {
		for range 50 {
			again := md5.Sum(key[:size]) //nolint:gosec // as above
			key = again[:]
		}
	}
	c.key = key[:size]
	if !c.opens(r, user, revision) {
		return nil
	}
	return c
}

// opens reports whether the key is right: the empty password is the user's (algorithms 4 to 6). Only revisions 2 to 4
// come here; newer ones are checked by their own hashes.
func (c *crypt) opens(r *pdfReader, user string, revision int) bool {
	if revision == 2 {
		return bytes.Equal(rc4Text(c.key, padding), []byte(user)[:min(len(user), 32)])
	}
	sum := md5.New() //nolint:gosec // as above
	sum.Write(padding)
	if ids, ok := r.resolve(r.trailer["ID"]).([]any); ok && len(ids) > 0 {
		id, _ := r.resolve(ids[0]).(string)
		sum.Write([]byte(id))
	}
	value := sum.Sum(nil)
	for i := range byte(20) {
		key := slices.Clone(c.key)
		for k := range key {
			key[k] ^= i
		}
		value = rc4Text(key, value)
	}
	return bytes.HasPrefix([]byte(user), value[:16])
}

// rc4Text encrypts or decrypts data of a PDF by RC4. A key that RC4 refuses gives zeros.
func rc4Text(key, data []byte) []byte {
	out := make([]byte, len(data))
	c, err := rc4.NewCipher(key) //nolint:gosec // as above
	if err != nil {
		return out
	}
	c.XORKeyStream(out, data)
	return out
}

// hardenedHash is the hash of encryption of revision 6 for the empty password (ISO 32000-2, algorithm 2.B). It is made
// slow on purpose: 64 rounds and more of AES over 64 repetitions. It is computed twice for a file.
func hardenedHash(salt []byte) []byte {
	first := sha256.Sum256(salt)
	k := first[:]
	for round := 0; ; round++ {
		k1 := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(k1, k1)
		sum := 0
		for _, c := range k1[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			h := sha256.Sum256(k1)
			k = h[:]
		case 1:
			h := sha512.Sum384(k1)
			k = h[:]
		default:
			h := sha512.Sum512(k1)
			k = h[:]
		}
		if round >= 63 && int(k1[len(k1)-1]) <= round-31 {
			return k[:32]
		}
	}
}

// object returns the key of one object of a PDF (algorithm 1): the file's key with the object's number and generation.
// AES-256 has one key for all.
func (c *crypt) object(of ref) []byte {
	if c.direct {
		return c.key
	}
	text := append(slices.Clone(c.key), byte(of.num), byte(of.num>>8), byte(of.num>>16), byte(of.gen), byte(of.gen>>8))
	if c.aes {
		text = append(text, "sAlT"...)
	}
	sum := md5.Sum(text) //nolint:gosec // as above
	return sum[:min(len(c.key)+5, 16)]
}

// stream decrypts the data of a stream, or a string, that belongs to the object of. Data of AES begin with 16 bytes of
// initialisation vector, and end with padding that is cut off where it is one. Damaged data give nil, or noise that no
// filter understands.
func (c *crypt) stream(data []byte, of ref) []byte {
	if c.none {
		return data
	}
	key := c.object(of)
	if !c.aes {
		return rc4Text(key, data)
	}
	if len(data) < 32 {
		return nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil
	}
	body := data[16 : len(data)-len(data)%16]
	out := make([]byte, len(body))
	cipher.NewCBCDecrypter(block, data[:16]).CryptBlocks(out, body)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
		out = out[:len(out)-pad]
	}
	return out
}

// decryptedDict returns the dictionary of a stream with its strings decrypted.
func (r *pdfReader) decryptedDict(d dict, of ref) dict {
	d, _ = r.decrypted(d, of).(dict)
	return d
}

// decrypted returns an object of the file with its strings decrypted. It changes arrays and dictionaries in place: they
// have just been read and nobody else has them. The dictionary that describes the encryption is left as it is.
func (r *pdfReader) decrypted(v any, of ref) any {
	if r.crypt == nil || of.num == r.crypt.plain {
		return v
	}
	switch v := v.(type) {
	case string:
		return string(r.crypt.stream([]byte(v), of))
	case []any:
		for i := range v {
			v[i] = r.decrypted(v[i], of)
		}
	case dict:
		for key := range v {
			v[key] = r.decrypted(v[key], of)
		}
	}
	return v
}

// unlock prepares decryption. The catalogue may be encrypted, so this comes before it is read. What was kept of objects
// is forgotten, since it was read without the key. The error is ErrEncrypted: another password than the empty one is
// needed, or the method is unknown.
func (r *pdfReader) unlock() error {
	if _, encrypted := r.trailer["Encrypt"]; !encrypted {
		return nil
	}
	c := newCrypt(r, r.dict(r.trailer["Encrypt"]))
	if c == nil {
		return ErrEncrypted
	}
	if to, ok := r.trailer["Encrypt"].(ref); ok {
		c.plain = to.num
	}
	r.crypt = c
	r.cache, r.packs = map[int]any{}, map[int]*pack{}
	return nil
}
