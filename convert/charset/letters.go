package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	htmlcharset "golang.org/x/net/html/charset"
)

// language is what its letters beyond ASCII tell of a text.
type language struct {
	tag       string // BCP 47
	encodings string // in which the web holds its texts, the usual one first
	apart     bool   // its words have no ASCII letters
	letters   string // groups of lower-case letters: those of the n-th are about one in 2^n of all that are not ASCII
}

// languages are counted over the translations of the programs and manuals of GNOME, GNU and Debian: half a million
// letters or more of most, 200,000 of Arabic and Thai.
var languages = []language{
	{"ru", "windows-1251 koi8-r iso-8859-5 ibm866 x-mac-cyrillic", true, "//ое/аинтрс/лвкпдму/яьызйбч/гжфюхц/шщ/эё"},
	{"uk", "windows-1251 koi8-u iso-8859-5 x-mac-cyrillic", true, "//а/ониетвір/кслдпумяз/бьйгч/жхцєшфю/їщ"},
	{"be", "windows-1251 iso-8859-5", true, "//а/нркы/іслетдвямпоуцз/ьэгбўч/йшхфж/ю/ё"},
	{"bg", "windows-1251 koi8-r iso-8859-5 ibm866 x-mac-cyrillic", true, "//ае/ниотрс/вдпклзм/ъябу/чгжйфц/шщх/ю"},
	{"sr", "windows-1251 iso-8859-5", true, "//ае/ионртс/купдвмјзл/бг/шчњцљ/жћхф/ђ"},
	{"mk", "windows-1251 iso-8859-5", true, "//аео/итнр/ксвдлпм/узјбгч/цњжш/ф/х/ќ"},
	{"pl", "windows-1250 iso-8859-2", false, "/ł/żąęśóć//ń/ź///éá"},
	{"cs", "windows-1250 iso-8859-2", false, "/íá/ř/čéžýěš/ů//ú/ňó/ť/ď"},
	{"sk", "windows-1250 iso-8859-2", false, "/á/číýéť/úžšľ///óôňä/ĺď"},
	{"hu", "windows-1250 iso-8859-2", false, "/áé/óí/öő/üú/ű"},
	{"ro", "windows-1250 iso-8859-2", false, "ă/ţ/şî//â"},
	{"sl", "windows-1250 iso-8859-2", false, "č/š/ž"},
	{"hr", "windows-1250 iso-8859-2", false, "/čšž/ć/đ////ȏô"},
	{"el", "windows-1253 iso-8859-7", true, "//α/οετινσρ/μηπκςυλίγδ/ήέάόχωθ/φύ/ώβξζ//ψ"},
	{"tr", "windows-1254", false, "ı//çşüğ/ö/////áé/í"},
	{"he", "windows-1255", true, "//יו/התלמראנ/בשקפדסג/טעחםןכצ/ז/ךץ/ף"},
	{"ar", "windows-1256 iso-8859-6", true, "//ال/يمرتو/ةندفعسب/حقكجأصهطخ/إذزشغ\u0651ض/ىثئء/ظؤ/\u064f\u064b\u0650"},
	{"fa", "windows-1256", true, "//ای/نرهدوتم/بکسشل/فگزپ/جخعصقح\u0654/چطآ/ضظذغ\u0651ژ/ثئ"},
	{"lt", "windows-1257 iso-8859-4", false, "/šųė/žį/ąčū//ę"},
	{"lv", "windows-1257 iso-8859-4", false, "/āē/īš/ū/ņļ/žķ/ģ/č"},
	{"et", "windows-1257", false, "ä/õü///öš//ž/ā//īå"},
	{"vi", "windows-1258", false, "//\u0323\u0301\u0300êô/\u0309đưâơ/\u0303ă"},
	{"th", "windows-874", true, "///ารอกน/มเ\u0e48\u0e49งดล\u0e31\u0e35ต\u0e34สยบ" +
		"/วแไ\u0e4cทคจหขปพ\u0e39ะช/\u0e37โซำ\u0e38ใถฟ/\u0e47ณผภธ/ษฐ\u0e36ฮญ/ศ"},
	{"de", "windows-1252 macintosh", false, "ü/ä/ö/ß//éá/āí/īšóč/ðúžəèşūı"},
	{"fr", "windows-1252 macintosh", false, "é///èàê//ôî/ç/áâ/ïíùû"},
	{"es", "windows-1252 macintosh", false, "ó/á/í/úéñ"},
	{"pt", "windows-1252 macintosh", false, "/ãç/áí/éóõ/úê//âà///ô"},
	{"it", "windows-1252 macintosh", false, "è/à//òùé/á/í/ìčšó/úžüșāâãñö/ıăêīşț"},
	{"sv", "windows-1252 macintosh", false, "ä/öå//////éá/í"},
	{"da", "windows-1252 macintosh", false, "æ/øå///é///āáíčə/žšī"},
	{"nb", "windows-1252 macintosh", false, "åø///æ///é"},
	{"fi", "windows-1252 macintosh", false, "ä//ö//////š/ž"},
	{"nl", "windows-1252 macintosh", false, "/éë/ï/á/óíäš/čðö/úüșžèėāıăīõşēçô/ñæħãțěżřâğġļå/ūĭýņŏîþàőķ"},
	{"is", "windows-1252 macintosh", false, "/ðí/áó/úýæ/öþ/é"},
	{"ca", "windows-1252 macintosh", false, "/óàé/í/èòúç//ïü"},
}

// ideographs are the most frequent characters of the languages that have thousands of them, the first one the most
// frequent, counted over the same texts.
var ideographs = map[string]string{
	"zh-hans": "的件用文不数无法在为字有时中出个行符是使名定一选标式语置项可目表能输列以到对要或设入和效包示指作已未" +
		"将错录存本于号分程据器取类进接参大值误格信过新型显序下除制间如动正模后上您前加失配命息打多被所内建提" +
		"支区引软关果系开更组小部认户库重位务令称尔败码同没度此应查发量安索密持则空图键了并解读子创换版拉写需" +
		"改当删复必成从理省最操变地签默请须义否统记斯合会节编现态含达者这象档其证服方特处找结来亚单非备期启许" +
		"告印移状它钥克转自交该串装执略获函色回只限外块工与之连点检段知第但按级里主全通载长次而别计任口代允机" +
		"始超性问识向生共容准源路条线消警链每止归日卡匹布域保确调比头面像退排马径属运国相页意尼整视规等少束权",
	"zh-hant": "的用不無檔定法式在案語有數使字為時中是位目選資示設個指列名件標項出元取料行入一能要輸可表效以稱存作或" +
		"已錯顯型到值新誤於和號動程錄分間組區大結引未本將格者除文符預對器訊度開別置否前建碼合模後提如視子單正" +
		"過啟支重記所下小發立令沒來寫更鍵參變失會加多內欄空執應上關版庫敗此理連果生工讀最類圖態方被亞必換包序" +
		"這至查系得解串服同移線需期體則套進援編須相窗非交請狀色成統索物部從國之了檢自回端拉共含安伺限機只按該" +
		"印函裝束與複並處刪第找性點您當代傳清證算塊頭命徑主容次爾其長面始明整準外義制路略鑰原接轉頁斯告息改籤" +
		"級等克屬源規許修擇但向權而現條完確排縮載像每封停範全尼域特允金段比警計密由運聯具製化備配超止利份圍識",
	"ja": "定数用使行名表語示合文力指字効不無出要設一変列時作場失中値成更正入除敗動前書込必対存内実取可在最関有" +
		"式終新削読間明置能子型引了認再号開大本生方同報上外続接番告形現配証鍵後切情期付的選見検日以照択警得全" +
		"下換部義理複化長限目画共制解位性法準発空先含信問分参標所保索二国覧加視識算状囲記致確者始追別当小利約" +
		"自態通範返個受単持処署印代完会充決止赤張起演意常求和度星適松澤郎柔坂貴史集送他初移際順構依幅応向色端" +
		"整回拡割計進元像非属予次区想権機替多項容結規縮異待各重操素許未種線命圧係右例特類暗果違題古詳境刷押様" +
		"言並手点細左側改既量末連体直頭秒令復白面序辞停扱与装刻環展尾録象否来互呼査壊組電御述高提優破注済挿域",
	"ko": "다니이을지에수를는로습하시자일가스의정기없합파서용어사리할음트인한있터은그문오드아션않대보위면제으상" +
		"크프치력나부만입고작모해바름표옵전도값실키패여식설데소행동디경함형요라버호성열명중업단들적개출장과거" +
		"우화메목된조록구세비되연블못타원선번내야미마추레간류러변잘령결필현환했재주공무태테렉료분브또려유와더" +
		"른때본복체안계너코색읽르알당게택방램절항확반줄활진포접최커페래각었누능십창베처템속임두저백법검든준카" +
		"참텍신배링새영끝같럼생았종네역예숫랜관근운퍼초볼증건국워널찾림쪽칼매덱발져클쓰권산컴통플집티렬따젝폴" +
		"밋됨올및룹린삭퓨꾸쓸암후별범순규젯며축루것딩향뉴닙눌릴언청글허콘투째토릅길맞컨움헤외받히격직슬약까완",
}

// costs returns what each letter of the language costs, where an encoding is detected by its letters. A slash in the
// table of letters begins those that are half as frequent.
func (l *language) costs() map[rune]float64 {
	costs, bits := map[rune]float64{}, 1.0
	for _, r := range l.letters {
		if r == '/' {
			bits++
			continue
		}
		costs[r] = bits
	}
	return costs
}

// table returns what each byte costs in an encoding of the language. frequent are the costs of its letters.
func (l *language) table(name string, frequent map[rune]float64) *table {
	t := &table{name: name}
	e, _ := htmlcharset.Lookup(name)
	decoder := e.NewDecoder()
	latin := !l.apart
	for c := range 128 {
		text, err := decoder.Bytes([]byte{byte(c + 0x80)})
		r, _ := utf8.DecodeRune(text)
		if err != nil {
			r = utf8.RuneError
		}
		bits := characterCost(r, latin, frequent)
		for place := range places {
			t.cost[place][c] = bits
			switch {
			case !unicode.IsLetter(r):
			case place == adjoining && l.apart:
				t.cost[place][c] += costAdjoining
			case place == among && latin:
				t.cost[place][c] += costSuccessive
			}
		}
	}
	return t
}

// characterCost returns what a character costs in a language: by its letters, else by its kind. latin says that the
// language is written in Latin letters.
func characterCost(r rune, latin bool, frequent map[rune]float64) float64 {
	if bits, ok := frequent[r]; ok {
		return bits
	}
	if bits, ok := frequent[unicode.ToLower(r)]; ok {
		return bits + costUpper
	}
	switch {
	case r == utf8.RuneError, unicode.IsControl(r):
		return costControl
	case strings.ContainsRune("\u00a0’‘“”„«»–—…", r) && latin:
		return costMark
	case strings.ContainsRune("\u00a0’‘“”„«»–—…", r):
		return costApartMark
	case strings.ContainsRune("·•©®°§€£№", r):
		return costSign
	case latin && unicode.Is(unicode.Latin, r) && unicode.IsLower(r):
		return costForeign
	}
	return costOther
}
